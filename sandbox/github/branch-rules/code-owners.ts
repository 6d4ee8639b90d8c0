// Code owners of a change: CODEOWNERS of the base branch, last matching line, people and teams.
import { minimatch } from 'minimatch'
import { GitFailure, git } from '../git/git-store.ts'
import { looseCommit } from '../git/loose-history.ts'
import { looseOr, readLoose } from '../git/loose-objects.ts'
import { looseEntry } from '../git/loose-trees.ts'
import { accountByLogin } from '../world.ts'
import type { Account, Pull, World } from '../world.ts'

const places = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS']

interface Line {
  readonly pattern: string
  readonly owners: readonly string[]
}

async function linesAt(path: string, commit: string): Promise<Line[]> {
  for (const place of places)
    try {
      const text = await looseOr(
        () => textAt(path, commit, place),
        () => git(path, 'show', `${commit}:${place}`),
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

function textAt(path: string, commit: string, place: string): string | undefined {
  const entry = looseEntry(path, looseCommit(path, commit).tree, place)
  return entry === undefined ? undefined : readLoose(path, entry.id).bytes.toString()
}

/** As gitignore's patterns: a slash inside ties to the root, a folder means all below it. */
export function covers(pattern: string, file: string): boolean {
  const rooted = pattern.replace(/\/$/, '').includes('/')
  const glob = rooted ? pattern.replace(/^\//, '') : `**/${pattern}`
  const folder = glob.replace(/\/$/, '')
  const options = { dot: true, nonegate: true, nocomment: true }
  // `docs/*` does not reach below docs' folders, as GitHub's page says.
  const below = folder.endsWith('/*') ? false : minimatch(file, `${folder}/**`, options)
  return below || (!glob.endsWith('/') && minimatch(file, glob, options))
}

/** The files that a pull request changes. */
export async function changedFiles({ repo, headSha }: Pull, base: string): Promise<string[]> {
  const range = `${base}...${headSha}`
  const names = await git(repo.path, 'diff', '--name-only', '-z', '--no-renames', range, '--')
  return names.split('\0').filter(Boolean)
}

/** The groups of owners of whom one each must approve, for the files that a pull request changes. */
export async function ownersOf(pull: Pull, base: string): Promise<(readonly string[])[]> {
  const lines = await linesAt(pull.repo.path, base)
  if (lines.length === 0) return []
  const groups = new Map<string, readonly string[]>()
  for (const file of await changedFiles(pull, base)) {
    const owners = lines.findLast(({ pattern }) => covers(pattern, file))?.owners ?? []
    if (owners.length > 0) groups.set(owners.join(' '), owners)
  }
  return [...groups.values()]
}

/** Whether a person is one of these owners, by login or as a team's member. */
export function isOwner(world: World, account: Account, owners: readonly string[]): boolean {
  return owners.some((owner) => {
    const [name = '', team] = owner.replace(/^@/, '').split('/')
    if (team === undefined) return accountByLogin(world, name) === account
    return world.teams.some(
      ({ organization, slug, members }) =>
        organization.login.toLowerCase() === name.toLowerCase() &&
        slug === team &&
        members.get(account.id)?.state === 'active',
    )
  })
}
