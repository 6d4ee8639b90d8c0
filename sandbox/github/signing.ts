// Commits that GitHub signs itself: the header that git shows, and the memory that makes it verified. A signature that
// somebody copies into another commit is not in that memory.
import { randomBytes } from 'node:crypto'
import { runGitForBytes } from './git/git-store.ts'
import { readLooseOrRunGit, readLooseObject, writeLooseObject } from './git/loose-objects.ts'
import type { GitIdentity } from './git/git-store.ts'
import type { MockAccount, GitHubPayload, MockGitHubData } from './github-data.ts'

/** The committer of everything that GitHub commits for someone. */
export const createWebFlowIdentity = (world: MockGitHubData): GitIdentity => ({
  name: 'GitHub',
  email: 'noreply@github.invalid',
  at: world.now(),
})

/** An account as the author of a commit that GitHub makes. */
export const toAuthorIdentity = (world: MockGitHubData, { id, login }: MockAccount): GitIdentity => ({
  name: login,
  email: `${id}+${login}@users.noreply.github.invalid`,
  at: world.now(),
})

/** The same commit, signed; the unsigned one stays behind as an object that nothing names. */
export async function signCommit(world: MockGitHubData, path: string, sha: string): Promise<string> {
  const bytes = await readLooseOrRunGit(
    () => readLooseObject(path, sha).bytes,
    () => runGitForBytes(path, ['cat-file', 'commit', sha]),
  )
  const text = bytes.toString()
  const signature = [
    '-----BEGIN PGP SIGNATURE-----',
    '',
    randomBytes(48).toString('base64'),
    '-----END PGP SIGNATURE-----',
  ].join('\n')
  const end = text.indexOf('\n\n')
  const header = `gpgsig ${signature.replaceAll('\n', '\n ')}`
  const object = Buffer.from(`${text.slice(0, end)}\n${header}${text.slice(end)}`)
  const id = writeLooseObject(path, 'commit', object)
  world.signatures.set(id, signature)
  return id
}

/** What REST says of a commit's signature. */
export function toSignatureVerificationView(world: MockGitHubData, sha: string): GitHubPayload {
  const signature = world.signatures.get(sha)
  return signature === undefined
    ? { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null }
    : { verified: true, reason: 'valid', signature, payload: `commit ${sha}`, verified_at: world.timestamp() }
}
