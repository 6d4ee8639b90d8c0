// Refuses pushes of Apps without the permission `workflows` whose commits touch workflow files, as GitHub does: every
// commit of the push counts, whatever the last one makes of it. A hook, so that git itself tells the one who pushes.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Set for the git that serves a push: `write` lets it touch workflows. */
export const workflowsVariable = 'SANDBOX_WORKFLOWS'

const hook = `#!/bin/sh
test "$${workflowsVariable}" = write && exit 0
while read -r old new ref; do
  case $new in *[!0]*) ;; *) continue ;; esac
  for commit in $(git rev-list "$new" --not --branches --tags); do
    file=$(git diff-tree -r -c --root --no-commit-id --name-only "$commit" -- .github/workflows | head -n 1)
    test -z "$file" && continue
    printf 'refusing to allow a GitHub App to create or update workflow \`%s\` without \`workflows\` permission\\n' "$file" >&2
    exit 1
  done
done
`

/** Gives a bare repository the hook. */
export async function guardWorkflows(path: string): Promise<void> {
  await mkdir(join(path, 'hooks'), { recursive: true })
  await writeFile(join(path, 'hooks', 'pre-receive'), hook, { mode: 0o755 })
}
