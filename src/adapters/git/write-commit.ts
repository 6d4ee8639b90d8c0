// Writes a merge commit into the mirror's objects, as `git commit-tree` does: the same bytes under the same id. Only the
// object; no ref is touched.
import { createHash } from 'node:crypto'
import { mkdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { toCommitSha, type CommitSha, type TreeSha } from '../../pull-request/ids.ts'
import { GitError } from './git-error.ts'

export interface MergeCommitContent {
  readonly tree: TreeSha
  readonly parents: readonly CommitSha[]
  /** `Name <address> seconds +0000`, of author and committer. */
  readonly by: string
  readonly message: string
}

/** Writes it below `directory`, a bare repository. If the object already exists, only returns its id. */
export async function writeCommit(directory: string, commit: MergeCommitContent): Promise<CommitSha> {
  const { tree, parents, by, message } = commit
  const headers = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${by}`,
    `committer ${by}`,
  ]
  const body = Buffer.from(`${headers.join('\n')}\n\n${message}`)
  const object = Buffer.concat([Buffer.from(`commit ${body.length}\0`), body])
  const id = createHash(tree.length === 64 ? 'sha256' : 'sha1')
    .update(object)
    .digest('hex')
  await storeObject(directory, id, object)
  return toCommitSha(id)
}

async function storeObject(directory: string, id: string, object: Buffer): Promise<void> {
  const folder = join(directory, 'objects', id.slice(0, 2))
  const path = join(folder, id.slice(2))
  const now = new Date()
  try {
    // Cleanup keeps recent objects, so an object that is written again must count as recent.
    await utimes(path, now, now)
    return
  } catch (error) {
    if (!isFileNotFoundError(error)) throw toGitError(error)
  }
  const temporary = join(folder, `tmp_obj_${process.pid}_${++tempFileCounter}`)
  try {
    // Creates only this folder, so that a deleted repository is not recreated here.
    await mkdir(folder).catch(async (error: unknown) => {
      if (!(await isDirectory(folder))) throw error
    })
    await writeFile(temporary, deflateSync(object), { mode: 0o444, flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw toGitError(error)
  }
}

let tempFileCounter = 0

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}

function isFileNotFoundError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function toGitError(cause: unknown): GitError {
  return new GitError('failed', 'a commit could not be written', { cause })
}
