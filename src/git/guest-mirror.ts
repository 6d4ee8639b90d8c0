// Opens another process's mirror for reading.
import { stat } from 'node:fs/promises'
import { openMirror, type Mirror, type MirrorOptions } from './mirror.ts'

/** Keeps the last folder's mirror open. A guest never contacts the server. */
export function openGuestMirrors(): (
  directory: string,
  options?: Pick<MirrorOptions, 'mostPaths'>,
) => Promise<Mirror> {
  let known: { readonly folder: string; readonly repository: Mirror } | undefined
  return async (directory, options = {}) => {
    // A recreated mirror keeps its path, but readers of the old one wouldn't see new objects.
    const folder = `${directory} ${(await stat(directory, { bigint: true })).ino}`
    if (known?.folder === folder) return known.repository
    await known?.repository.close()
    const repository = await openMirror({
      directory,
      url: 'https://mirror.invalid',
      credential: () => Promise.resolve(undefined),
      isGuest: true,
      ...options,
    })
    known = { folder, repository }
    return repository
  }
}
