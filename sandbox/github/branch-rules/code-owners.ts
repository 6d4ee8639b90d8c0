// The code owners of a change: CODEOWNERS of the base branch, the last matching line, users and teams.
import { minimatch } from 'minimatch'
import { GitFailure, runGitForText } from '../git/git-store.ts'
import { readLooseCommit } from '../git/loose-history.ts'
import { readLooseOrRunGit, readLooseObject } from '../git/loose-objects.ts'
import { findLooseTreeEntry } from '../git/loose-trees.ts'
import { findAccountByLogin } from '../github-data.ts'
import type { MockAccount, MockPull, MockGitHubData } from '../github-data.ts'

const codeownersPaths = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS']

interface CodeownersLine {
  readonly pattern: string
  readonly owners: readonly string[]
}

async function readCodeownersLines(path: string, commit: string): Promise<CodeownersLine[]> {
  for (const codeownersPath of codeownersPaths)
    try {
      const text = await readLooseOrRunGit(
        () => readFileAtCommit(path, commit, codeownersPath),
        () => runGitForText(path, 'show', `${commit}:${codeownersPath}`),
      )
      if (text === undefined) continue
      return text
        .split('\n')
        .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
        .filter(Boolean)
        .map((line) => {
          const [pattern = '', ...owners] = line.split(/\s+/)
          return { pattern, owners }
        })
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error
    }
  return []
}

function readFileAtCommit(path: string, commit: string, filePath: string): string | undefined {
  const entry = findLooseTreeEntry(path, readLooseCommit(path, commit).tree, filePath)
  return entry === undefined ? undefined : readLooseObject(path, entry.id).bytes.toString()
}

/**
 * Patterns like in gitignore: a slash inside anchors the pattern to the root, and a folder matches everything below
 * it.
 */
export function matchesCodeownersPattern(pattern: string, file: string): boolean {
  const rooted = pattern.replace(/\/$/, '').includes('/')
  const glob = rooted ? pattern.replace(/^\//, '') : `**/${pattern}`
  const folder = glob.replace(/\/$/, '')
  const options = { dot: true, nonegate: true, nocomment: true }
  // `docs/*` does not match files in subfolders of docs, according to GitHub's documentation.
  const below = folder.endsWith('/*') ? false : minimatch(file, `${folder}/**`, options)
  return below || (!glob.endsWith('/') && minimatch(file, glob, options))
}

/** The files that a pull request changes. */
export async function listChangedFiles({ repo, headSha }: MockPull, base: string): Promise<string[]> {
  const range = `${base}...${headSha}`
  const names = await runGitForText(repo.path, 'diff', '--name-only', '-z', '--no-renames', range, '--')
  return names.split('\0').filter(Boolean)
}

/** The groups of owners for the files that a pull request changes. One owner from each group must approve. */
export async function findRequiredOwners(pull: MockPull, base: string): Promise<(readonly string[])[]> {
  const lines = await readCodeownersLines(pull.repo.path, base)
  if (lines.length === 0) return []
  const groups = new Map<string, readonly string[]>()
  for (const file of await listChangedFiles(pull, base)) {
    const owners = lines.findLast(({ pattern }) => matchesCodeownersPattern(pattern, file))?.owners ?? []
    if (owners.length > 0) groups.set(owners.join(' '), owners)
  }
  return [...groups.values()]
}

/** Whether a user is one of these owners, by login or as a member of a team. */
export function isCodeOwner(world: MockGitHubData, account: MockAccount, owners: readonly string[]): boolean {
  return owners.some((owner) => {
    const [name = '', team] = owner.replace(/^@/, '').split('/')
    if (team === undefined) return findAccountByLogin(world, name) === account
    return world.teams.some(
      ({ organization, slug, members }) =>
        organization.login.toLowerCase() === name.toLowerCase() &&
        slug === team &&
        members.get(account.id)?.state === 'active',
    )
  })
}
