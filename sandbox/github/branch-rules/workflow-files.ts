// Workflow files in what an app pushes: GitHub wants the permission `workflows` for them, whatever the branch.
import type { Caller } from '../http/caller.ts'
import { listCommitsBeyond, runGitForText } from '../git/git-store.ts'
import { readLooseCommit } from '../git/loose-history.ts'
import { readLooseOrRunGit } from '../git/loose-objects.ts'
import { findLooseTreeEntry } from '../git/loose-trees.ts'
import type { MockRepository } from '../github-data.ts'

const workflowsFolder = '.github/workflows'

/** People may; of apps those that were granted it, and still are. */
export function canWriteWorkflowFiles(by: Caller): boolean {
  return (
    by.kind !== 'installation' ||
    [by.permissions, by.installation.permissions].every((held) => held['workflows'] === 'write')
  )
}

/** GitHub's reason to refuse, or undefined. Looks at each commit that no branch of the repository has. */
export async function findWorkflowFileRejection(
  repo: MockRepository,
  path: string,
  old: string | undefined,
  now: string | undefined,
  by: Caller,
): Promise<string | undefined> {
  if (canWriteWorkflowFiles(by) || now === undefined) return undefined
  const known = [...repo.knownRefs.values(), ...(old === undefined ? [] : [old])]
  if (!(await hasChangedWorkflowFiles(path, known, now))) return undefined
  const text = await runGitForText(
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
    workflowsFolder,
  )
  const [file] = text.split('\0').filter((it) => it.trim() !== '')
  if (file === undefined) return undefined
  return `refusing to allow a GitHub App to create or update workflow \`${file.trim()}\` without \`workflows\` permission`
}

/** Whether the folder of some new commit is none of its parents'. */
async function hasChangedWorkflowFiles(
  path: string,
  known: readonly string[],
  now: string,
): Promise<boolean> {
  const commits = await listCommitsBeyond(path, known, now)
  const findWorkflowsTreeId = (commit: string) =>
    findLooseTreeEntry(path, readLooseCommit(path, commit).tree, workflowsFolder)?.id
  const hasNewWorkflows = (commit: string): boolean => {
    const { parents } = readLooseCommit(path, commit)
    const here = findWorkflowsTreeId(commit)
    return parents.length === 0
      ? here !== undefined
      : parents.every((parent) => findWorkflowsTreeId(parent) !== here)
  }
  return await readLooseOrRunGit(
    () => commits.some(hasNewWorkflows),
    async () => true,
  )
}
