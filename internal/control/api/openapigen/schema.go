package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"time"
)

// schemas are those of the types that were asked for.
type schemas struct {
	comments map[string]string // of Type and Type.Field
	all      node
}

// of is the schema of a type, or a reference to it. A body may have no other fields; an
// answer of a later version may.
func (s *schemas) of(t reflect.Type, body bool) node {
	if t == reflect.TypeFor[time.Time]() {
		return node{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem(), body)
	case reflect.String:
		return node{"type": "string"}
	case reflect.Bool:
		return node{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return node{"type": "integer"}
	case reflect.Float64:
		return node{"type": "number"}
	case reflect.Slice:
		return node{"type": "array", "items": s.of(t.Elem(), body)}
	case reflect.Map:
		return node{"type": "object", "additionalProperties": s.of(t.Elem(), body)}
	case reflect.Struct:
		return s.object(t, body)
	}
	panic("no schema for " + t.String())
}

func (s *schemas) object(t reflect.Type, body bool) node {
	if t.Name() == "" {
		return node{"type": "object"}
	}
	if s.all[t.Name()] == nil {
		schema := node{"type": "object"}
		s.all[t.Name()] = schema
		properties, required := s.properties(t, body)
		schema["properties"] = properties
		if required != nil {
			schema["required"] = required
		}
		if text := s.comments[t.Name()]; text != "" {
			schema["description"] = text
		}
		if body {
			schema["additionalProperties"] = false
		}
	}
	return node{"$ref": "#/components/schemas/" + t.Name()}
}

func (s *schemas) properties(t reflect.Type, body bool) (properties node, required []string) {
	properties = node{}
	for f := range t.Fields() {
		if f.Anonymous {
			inner, also := s.properties(f.Type, body)
			for name, schema := range inner {
				properties[name] = schema
			}
			required = append(required, also...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		schema := s.of(f.Type, body)
		if text := s.comments[t.Name()+"."+f.Name]; text != "" {
			schema["description"] = text
		}
		properties[name] = schema
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	return properties, required
}

// readComments reads what a file says of its types and their fields.
func readComments(path string) (map[string]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	comments := map[string]string{}
	for _, decl := range file.Decls {
		types, ok := decl.(*ast.GenDecl)
		if !ok || types.Tok != token.TYPE {
			continue
		}
		for _, spec := range types.Specs {
			t := spec.(*ast.TypeSpec)
			comments[t.Name.Name] = flow(types.Doc)
			structure, ok := t.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, f := range structure.Fields.List {
				for _, name := range f.Names {
					comments[t.Name.Name+"."+name.Name] = strings.TrimSpace(flow(f.Doc) + " " + flow(f.Comment))
				}
			}
		}
	}
	return comments, nil
}

// flow is a comment as one line.
func flow(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
