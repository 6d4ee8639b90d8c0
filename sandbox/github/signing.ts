// Commits that GitHub signs itself: the header that git shows, and the memory that makes it verified. A signature that
// somebody copies into another commit is not in that memory.
import { randomBytes } from 'node:crypto'
import { gitBytes } from './git/git-store.ts'
import { looseOr, readLoose, writeLoose } from './git/loose-objects.ts'
import type { Signature } from './git/git-store.ts'
import type { Account, Payload, World } from './world.ts'

/** The committer of everything that GitHub commits for someone. */
export const webFlow = (world: World): Signature => ({
  name: 'GitHub',
  email: 'noreply@github.invalid',
  at: world.now(),
})

/** An account as the author of a commit that GitHub makes. */
export const authorOf = (world: World, { id, login }: Account): Signature => ({
  name: login,
  email: `${id}+${login}@users.noreply.github.invalid`,
  at: world.now(),
})

/** The same commit, signed; the unsigned one stays behind as an object that nothing names. */
export async function signCommit(world: World, path: string, sha: string): Promise<string> {
  const bytes = await looseOr(
    () => readLoose(path, sha).bytes,
    () => gitBytes(path, ['cat-file', 'commit', sha]),
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
  const id = writeLoose(path, 'commit', object)
  world.signatures.set(id, signature)
  return id
}

/** What REST says of a commit's signature. */
export function verificationOf(world: World, sha: string): Payload {
  const signature = world.signatures.get(sha)
  return signature === undefined
    ? { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null }
    : { verified: true, reason: 'valid', signature, payload: `commit ${sha}`, verified_at: world.timestamp() }
}
