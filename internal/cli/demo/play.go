package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// open sets the project up.
func (s *stage) open(ctx context.Context) error {
	s.say("A small shop, with two checks and a review. stopgate is set up in it.")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=demo", "-c", "user.email=demo@localhost", "commit", "-qm", "The shop"}} {
		if _, err := s.command(ctx, nil, append([]string{"git"}, args...)...); err != nil {
			return err
		}
	}
	if _, err := s.run(ctx, "hooks", "install"); err != nil {
		return err
	}
	if _, err := s.run(ctx, "trust", "--yes"); err != nil {
		return err
	}
	if err := s.show(ctx, "list"); err != nil {
		return err
	}
	if _, err := s.run(ctx, "daemon", "start"); err != nil {
		return err
	}
	return s.page(ctx)
}

// page turns the web page on, and shows its link.
func (s *stage) page(ctx context.Context) error {
	s.say("Watch everything that follows in your browser (the link works once):")
	err := s.link(ctx)
	s.pause(ctx)
	return err
}

// link shows a link to the web page that was not used yet.
func (s *stage) link(ctx context.Context) error {
	ui, err := s.daemon().ControlUI(ctx, daemonapi.UIControl{})
	if err != nil {
		return err
	}
	s.print("  " + ui.Link)
	return nil
}

// gates has an agent break a test and fix it.
func (s *stage) gates(ctx context.Context) error {
	s.say("An agent changes how the cart adds up, and wants to stop.")
	cart, err := files.ReadFile("shop/src/cart.sh")
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return s.prompt(ctx, "cart", "Make the cart faster.") },
		func() error {
			return s.write("src/cart.sh", strings.Replace(string(cart), "sum + price", "sum + price + 1", 1))
		},
		func() error { return s.stop(ctx, "cart", false) },
		func() error {
			return s.write("src/cart.sh", string(cart)+"\n# Nothing is faster than what is not done.\n")
		},
		func() error { return s.stop(ctx, "cart", true) },
	}
	if err := inOrder(steps); err != nil {
		return err
	}

	s.say("You ask the agent a question. Nothing has changed since, so no gate has to run.")
	return inOrder([]func() error{
		func() error { return s.prompt(ctx, "cart", "What did you change?") },
		func() error { return s.stop(ctx, "cart", true) },
	})
}

// review has another agent put a secret into the code.
func (s *stage) review(ctx context.Context) error {
	s.say("Another agent works on the login. The checks pass, but the review finds something.")
	return inOrder([]func() error{
		func() error { return s.prompt(ctx, "login", "Let people log in with a password.") },
		func() error {
			return s.write("src/login.sh", "# login starts a session.\nlogin() {\n  password=hunter2\n  [ \"$2\" = \"$password\" ] && echo \"welcome, $1\"\n}\n")
		},
		func() error { return s.stop(ctx, "login", false) },
		func() error {
			return s.write("src/login.sh", "# login starts a session.\nlogin() {\n  [ \"$2\" = \"$SHOP_PASSWORD\" ] && echo \"welcome, $1\"\n}\n")
		},
		func() error { return s.stop(ctx, "login", true) },
	})
}

// work has workers take bugs from a queue.
func (s *stage) work(ctx context.Context) error {
	s.say("Workers take bugs from a queue, two at a time. One bug cannot be fixed, and is kept for you.")
	if err := s.show(ctx, "worker", "start", "fixer"); err != nil {
		return err
	}
	return s.show(ctx, "work", "add", "bugs", "--from", "bugs.json")
}

// release has a pipeline ask a person.
func (s *stage) release(ctx context.Context) error {
	s.say("A pipeline builds a version, has an agent write the notes, and asks before it publishes.")
	id, err := s.run(ctx, "start", "--id", "release", "1.4.0")
	if err != nil {
		return err
	}
	id = strings.TrimSpace(id)

	asked, err := s.asks(ctx, id)
	if err != nil {
		return err
	}
	if err := s.show(ctx, "decision", "show", asked.ID); err != nil {
		return err
	}

	if !s.watched {
		if err := s.show(ctx, "decision", "answer", asked.ID, "publish"); err != nil {
			return err
		}
	} else {
		s.say("It is your turn. Answer in the browser, in the inbox:")
		if err := s.link(ctx); err != nil {
			return err
		}
		s.say("Or in another terminal:")
		s.print(fmt.Sprintf("  STOPGATE_STATE_DIR=%s stopgate decision answer %.8s publish", s.state, asked.ID))
	}

	_, err = s.until(ctx, id, func(o daemonapi.Owner) bool { return o.Ended != nil })
	return err
}

// summary shows what came of it all.
func (s *stage) summary(ctx context.Context) error {
	if err := s.worked(ctx); err != nil {
		return err
	}
	s.say("What was decided, and why.")
	for _, args := range [][]string{{"log"}, {"pipeline", "list"}, {"work", "list"}} {
		if err := s.show(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

func inOrder(steps []func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
