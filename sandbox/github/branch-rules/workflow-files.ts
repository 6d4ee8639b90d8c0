// Workflow files in what an app pushes: GitHub wants the permission `workflows` for them, whatever the branch.
import type { Caller } from '../http/caller.ts'
import { commitsBeyond, git } from '../git/git-store.ts'
import { looseCommit } from '../git/loose-history.ts'
import { looseOr } from '../git/loose-objects.ts'
import { looseEntry } from '../git/loose-trees.ts'
import type { Repo } from '../world.ts'

const folder = '.github/workflows'

/** People may; of apps those that were granted it, and still are. */
export function mayWriteWorkflows(by: Caller): boolean {
  return (
    by.kind !== 'installation' ||
    [by.permissions, by.installation.permissions].every((held) => held['workflows'] === 'write')
  )
}

/** GitHub's reason to refuse, or undefined. Looks at each commit that no branch of the repository has. */
export async function workflowRefusal(
  repo: Repo,
  path: string,
  old: string | undefined,
  now: string | undefined,
  by: Caller,
): Promise<string | undefined> {
  if (mayWriteWorkflows(by) || now === undefined) return undefined
  const known = [...repo.known.values(), ...(old === undefined ? [] : [old])]
  if (!(await mayTouch(path, known, now))) return undefined
  const text = await git(
    path,
    'log',
    '--format=',
    '--name-only',
    '-z',
    // A merge counts by what differs from all its parents: what it only brings together is somebody else's commit.
    '-c',
    '--full-history',
    '--no-renames',
    now,
    ...known.map((it) => `^${it}`),
    '--',
    folder,
  )
  const [file] = text.split('\0').filter((it) => it.trim() !== '')
  if (file === undefined) return undefined
  return `refusing to allow a GitHub App to create or update workflow \`${file.trim()}\` without \`workflows\` permission`
}

/** Whether the folder of some new commit is none of its parents'. */
async function mayTouch(path: string, known: readonly string[], now: string): Promise<boolean> {
  const commits = await commitsBeyond(path, known, now)
  const folderOf = (commit: string) => looseEntry(path, looseCommit(path, commit).tree, folder)?.id
  const touches = (commit: string): boolean => {
    const { parents } = looseCommit(path, commit)
    const here = folderOf(commit)
    return parents.length === 0 ? here !== undefined : parents.every((parent) => folderOf(parent) !== here)
  }
  return await looseOr(
    () => commits.some(touches),
    async () => true,
  )
}
