// Workflow files in an app's push: GitHub requires the permission `workflows` for them on every branch.
import type { ApiCaller } from '../http/caller.ts'
import { listCommitsNotReachableFrom, runGitForText } from '../git/git-store.ts'
import { readLooseCommitObject } from '../git/loose-history.ts'
import { readLooseObjectsOrRunGit } from '../git/loose-objects.ts'
import { findLooseTreeObjectEntry } from '../git/loose-trees.ts'
import type { MockRepository } from '../github-data.ts'

const workflowsFolder = '.github/workflows'

/** Users have the permission. Apps have it if it was granted to them and still is. */
export function canWriteWorkflowFiles(by: ApiCaller): boolean {
  return (
    by.kind !== 'installation' ||
    [by.permissions, by.installation.permissions].every((held) => held['workflows'] === 'write')
  )
}

/** GitHub's rejection message, or undefined. Inspects each commit that is on no branch of the repository. */
export async function findWorkflowFileRejection(
  repo: MockRepository,
  path: string,
  old: string | undefined,
  now: string | undefined,
  by: ApiCaller,
): Promise<string | undefined> {
  if (canWriteWorkflowFiles(by) || now === undefined) return undefined
  const known = [...repo.knownRefs.values(), ...(old === undefined ? [] : [old])]
  if (!(await hasCommitChangingWorkflowFiles(path, known, now))) return undefined
  const text = await runGitForText(
    path,
    'log',
    '--format=',
    '--name-only',
    '-z',
    // Only differences from all parents count for a merge. The other changes belong to the merged commits.
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

/** Whether a new commit has a workflow folder that differs from those of all its parents. */
async function hasCommitChangingWorkflowFiles(
  path: string,
  known: readonly string[],
  now: string,
): Promise<boolean> {
  const commits = await listCommitsNotReachableFrom(path, known, now)
  const findWorkflowsTreeId = (commit: string) =>
    findLooseTreeObjectEntry(path, readLooseCommitObject(path, commit).tree, workflowsFolder)?.id
  const hasNewWorkflows = (commit: string): boolean => {
    const { parents } = readLooseCommitObject(path, commit)
    const here = findWorkflowsTreeId(commit)
    return parents.length === 0
      ? here !== undefined
      : parents.every((parent) => findWorkflowsTreeId(parent) !== here)
  }
  return await readLooseObjectsOrRunGit(
    () => commits.some(hasNewWorkflows),
    async () => true,
  )
}
