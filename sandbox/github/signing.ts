// Commits that GitHub signs itself: the header that Git shows, and the record that makes the signature verified. A
// signature that is copied into another commit is not in that record.
import { randomBytes } from 'node:crypto'
import { runGitForBytes } from './git/git-store.ts'
import { readLooseObjectsOrRunGit, readLooseObject, writeLooseObject } from './git/loose-objects.ts'
import type { GitIdentity } from './git/git-store.ts'
import type { MockAccount, GitHubPayload, MockGitHubData } from './github-data.ts'

/** The committer of all commits that GitHub creates for a user. */
export const createGitHubCommitterIdentity = (state: MockGitHubData): GitIdentity => ({
  name: 'GitHub',
  email: 'noreply@github.invalid',
  at: state.now(),
})

/** An account as the author of a commit that GitHub creates. */
export const toCommitAuthorIdentity = ({ github, id, login }: MockAccount): GitIdentity => ({
  name: login,
  email: `${id}+${login}@users.noreply.github.invalid`,
  at: github.now(),
})

/** The same commit with a signature. The unsigned commit remains as an unreferenced object. */
export async function signCommit(state: MockGitHubData, path: string, sha: string): Promise<string> {
  const bytes = await readLooseObjectsOrRunGit(
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
  state.signatures.set(id, signature)
  return id
}

/** The signature of a commit, as REST shows it. */
export function toSignatureVerificationView(state: MockGitHubData, sha: string): GitHubPayload {
  const signature = state.signatures.get(sha)
  return signature === undefined
    ? { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null }
    : { verified: true, reason: 'valid', signature, payload: `commit ${sha}`, verified_at: state.timestamp() }
}
