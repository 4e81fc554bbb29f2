// Package model is how the clients of the chaos test think: the real one's, whose API the
// test is, and the stand-in's.
package model

import "strings"

// Act is what a model does when it is told something.
type Act int

// The acts.
const (
	Stop     Act = iota // say something, which ends the turn
	Complete            // signal that the work is done
	Ask                 // ask a person a question
)

// Answered is what a model is told when a person has answered its question.
const Answered = "answered"

// Next is the act for a text. It does not depend on what was said before, so that an agent
// which is started again ends like one that was not.
func Next(text string) Act {
	for _, word := range []struct {
		text string
		act  Act
	}{
		{"[complete]", Complete},
		{"[stop]", Stop},
		{"[ask]", Ask},
		{"You must explicitly signal completion", Complete},
		{"Please continue with the task.", Complete},
		{Answered, Complete},
	} {
		if strings.Contains(text, word.text) {
			return word.act
		}
	}
	return Stop
}

// Question is the input of AskUserQuestion.
const Question = `{"questions":[{"question":"Which color?","header":"Color","multiSelect":false,` +
	`"options":[{"label":"Red","description":"as blood"},{"label":"Blue","description":"as the sea"}]}]}`
