// Opens another process's mirror for reading.
import { stat } from 'node:fs/promises'
import { openGitMirror, type GitMirror, type GitMirrorOptions } from './mirror.ts'

/** Keeps the last folder's mirror open. A guest never contacts the server. */
export function createReadOnlyMirrorOpener(): (
  directory: string,
  options?: Pick<GitMirrorOptions, 'maxPaths'>,
) => Promise<GitMirror> {
  let known: { readonly folder: string; readonly repository: GitMirror } | undefined
  return async (directory, options = {}) => {
    // A recreated mirror keeps its path, but readers of the old one wouldn't see new objects.
    const folder = `${directory} ${(await stat(directory, { bigint: true })).ino}`
    if (known?.folder === folder) return known.repository
    await known?.repository.close()
    const repository = await openGitMirror({
      directory,
      url: 'https://mirror.invalid',
      credential: () => Promise.resolve(undefined),
      isReadOnly: true,
      ...options,
    })
    known = { folder, repository }
    return repository
  }
}
