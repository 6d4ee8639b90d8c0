// Reads a file by GitHub's API, where there is no mirror.
import { toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'

/** Undefined: the file doesn't exist. Rejects with a ForgeError. */
export async function readRepositoryFile(
  octokit: Octokit,
  { owner, name }: RepositoryName,
  path: string,
  ref: string,
): Promise<Uint8Array | undefined> {
  try {
    const { data } = await octokit.rest.repos.getContent({ owner, repo: name, path, ref })
    if (Array.isArray(data) || data.type !== 'file') return undefined
    return Buffer.from(data.content, 'base64')
  } catch (error) {
    const failure = toForgeError(error, `read ${path} of ${owner}/${name}`)
    if (failure.code === 'not-found') return undefined
    throw failure
  }
}
