# What is left to do with branches that have a worktree of their own: the workspace of a pipeline makes
# and removes worktrees itself.
#
#   import "git-worktree" {
#     const = { remote = "origin" }
#   }
#
# stopgate start sync fix/17   rebases the branch fix/17 onto the base
# stopgate start push fix/17   pushes it
# stopgate start tidy          deletes branches that the base has, and worktrees that are gone

const "base" {
  description = "The branch that others start from."
  default     = "main"
}

const "remote" {
  description = "Where branches are pushed to."
  default     = "origin"
}

const "branches" {
  description = "Which branches tidy may delete: a pattern of git branch --list."
  default     = "*"
}

command "sync" {
  description = "Rebase a branch onto the base; nothing is changed if there is a conflict"
  args        = "<branch>"
  run         = { pipeline = "sync" }
}

pipeline "sync" {
  vars      = ["branch"]
  workspace = { git = "worktree", base = "${var.branch}", keep = "never" }
  env       = { BASE = "${const.base}" }

  step "rebase" {
    run = <<-SHELL
      set -eu
      before=$(git rev-parse --verify "refs/heads/$VAR_BRANCH")
      git rebase "refs/heads/$BASE" || {
        files=$(git diff --name-only --diff-filter=U)
        git rebase --abort
        echo "$VAR_BRANCH conflicts with $BASE: $files"
        exit 1
      }
      commit=$(git rev-parse HEAD)
      git checkout --quiet --detach

      tree=$(git for-each-ref --format='%(worktreepath)x' "refs/heads/$VAR_BRANCH")
      tree=$${tree%x}
      if [ -n "$tree" ] && [ -d "$tree" ]; then
        cd "$tree"
        unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
        if [ -n "$(git status --porcelain --untracked-files=no)" ] || [ "$(git rev-parse HEAD)" != "$before" ]; then
          git -C "$STOPGATE_WORKSPACE" checkout --quiet --detach "$before"
          git branch --quiet -D -- "$STOPGATE_WORKSPACE_BRANCH"
          echo "someone works on $VAR_BRANCH in $tree"
          exit 1
        fi
        git reset --quiet --keep "$commit"
      else
        git update-ref -m "stopgate: sync with $BASE" "refs/heads/$VAR_BRANCH" "$commit" "$before"
      fi
      git branch --quiet -D -- "$STOPGATE_WORKSPACE_BRANCH"
    SHELL
  }
}

command "push" {
  description = "Push a branch; a rebased one too, unless others pushed to it"
  args        = "<branch>"
  run         = { pipeline = "push" }
}

pipeline "push" {
  vars = ["branch"]
  env  = { REMOTE = "${const.remote}" }

  step "push" {
    retry = { attempts = 3, backoff = "10s" }
    run   = "git push --force-with-lease --force-if-includes \"$REMOTE\" \"refs/heads/$VAR_BRANCH:refs/heads/$VAR_BRANCH\""
  }
}

command "tidy" {
  description = "Delete branches that the base has, and forget worktrees that are gone"
  run         = { pipeline = "tidy" }
}

pipeline "tidy" {
  env = { BASE = "${const.base}", BRANCHES = "${const.branches}" }

  # A branch that is checked out has a worktree path, and stays.
  step "tidy" {
    run = <<-SHELL
      set -eu
      git worktree prune --verbose
      git branch --list --merged "refs/heads/$BASE" --format='%(worktreepath)%00%(refname)' "$BRANCHES" |
        tr '\000' '\t' | sed -n 's/^	refs\/heads\///p' |
        while IFS= read -r branch; do
          [ "$branch" = "$BASE" ] || git branch -d -- "$branch"
        done
    SHELL
  }
}
