package folder

import "chaoslab/labs/referee"

// Language is one in which there can be starters.
type Language struct {
	Name  string
	Run   string // the line of the file "run"
	Main  string // the file that holds the program
	Needs string // the command that must be installed
}

// Languages returns those that a starter can be in.
func Languages() []Language {
	return []Language{
		{"go", "go run .", "main.go", "go"},
		{"node", "node main.js", "main.js", "node"},
		{"python", "python3 main.py", "main.py", "python3"},
		{"sh", "sh main.sh", "main.sh", "curl"},
	}
}

// LanguageOf returns the language of that name.
func LanguageOf(name string) (Language, bool) {
	for _, l := range Languages() {
		if l.Name == name {
			return l, true
		}
	}
	return Language{}, false
}

// Langs returns the languages for which the exercise has a starter.
func Langs(lab *referee.Lab) []string { return names(lab.Files, "starter") }
