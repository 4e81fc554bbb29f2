package need

import "sync"

// Lookup is how a program finds its manifest: the file that tells it the tasks of a project.
type Lookup struct {
	Files []string `json:"files,omitempty"` // one of them is read
	Up    bool     `json:"up,omitempty"`    // it may be in a directory above
	// Unless is how the settings of variables begin by which the program reads another one.
	Unless []string `json:"unless,omitempty"`
}

// Manifests are what programs read without being told its name. A hook needs them seldom, so they are not
// made when it starts; a run needs them for each of its gates.
var Manifests = sync.OnceValue(manifests)

func manifests() map[string]Lookup {
	var (
		makefile = Lookup{Files: []string{"Makefile", "makefile", "GNUmakefile", "BSDmakefile"}, Unless: []string{"MAKEFILES="}}
		taskfile = Lookup{
			Files: []string{
				"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml",
				"Taskfile.dist.yml", "taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml",
			},
			Up: true, Unless: []string{"TASK_"},
		}
		packageJSON = Lookup{Files: []string{"package.json"}, Up: true}
		pom         = Lookup{Files: []string{"pom.xml", ".mvn"}, Up: true, Unless: []string{"MAVEN_ARGS=", "MAVEN_BASEDIR="}} // .mvn/maven.config may name another one
		gradle      = Lookup{
			Files: []string{"build.gradle", "build.gradle.kts", "build.gradle.dcl", "settings.gradle", "settings.gradle.kts", "settings.gradle.dcl"},
			Up:    true,
		}
	)

	return map[string]Lookup{
		"make":    makefile,
		"gmake":   makefile,
		"just":    {Files: []string{"justfile", "Justfile", "JustFile", "JUSTFILE", ".justfile", ".Justfile"}, Up: true, Unless: []string{"JUST_"}},
		"task":    taskfile,
		"go-task": taskfile,
		"npm":     packageJSON,
		"npx":     packageJSON,
		"pnpm":    {Files: []string{"package.json", "package.yaml", "package.json5"}, Up: true},
		"yarn":    packageJSON,
		"bun":     packageJSON,
		"cargo":   {Files: []string{"Cargo.toml"}, Up: true},
		"go":      {Files: []string{"go.mod", "go.work"}, Up: true, Unless: []string{"GO111MODULE=", "GOWORK="}},
		"mvn":     pom,
		"mvnw":    pom,
		"gradle":  gradle,
		"gradlew": gradle,
		"rake":    {Files: []string{"Rakefile"}, Up: true},
		"tox":     {Files: []string{"tox.ini"}},
		"nox":     {Files: []string{"noxfile.py"}},
	}
}
