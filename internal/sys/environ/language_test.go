package environ

import "testing"

func TestIssue19Language(t *testing.T) {
	for name, tt := range map[string]struct {
		environ []string
		want    string
		both    bool
	}{
		"nothing":             {nil, "", true},
		"C":                   {[]string{"LANG=C"}, "", true},
		"C in UTF-8":          {[]string{"LC_ALL=C.UTF-8", "LANG=en_US.UTF-8"}, "", true},
		"POSIX":               {[]string{"LANG=POSIX"}, "", true},
		"Chinese":             {[]string{"LANG=zh_CN.UTF-8"}, "zh", true},
		"Chinese, alone":      {[]string{"LANG=zh"}, "zh", true},
		"English":             {[]string{"LANG=en_US.UTF-8"}, "en", false},
		"English by messages": {[]string{"LANG=zh_CN.UTF-8", "LC_MESSAGES=en_GB"}, "en", false},
		"LC_ALL wins":         {[]string{"LC_ALL=zh_TW.UTF-8", "LC_MESSAGES=en_GB", "LANG=de_DE"}, "zh", true},
		"empty ones are none": {[]string{"LC_ALL=", "LC_MESSAGES=", "LANG=de_DE@euro"}, "de", false},
		"other variables":     {[]string{"LC_TIME=zh_CN.UTF-8", "LANGUAGE=zh", "LANG=fr"}, "fr", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Language(tt.environ); got != tt.want {
				t.Errorf("language %q, not %q", got, tt.want)
			}
			if got := BothLanguages(tt.environ); got != tt.both {
				t.Errorf("both languages: %t", got)
			}
		})
	}
}
