// A mirror that another process keeps, opened to read: for processes that do orders about one repository after the other.
import { stat } from 'node:fs/promises'
import { openMirror, type Mirror, type MirrorOptions } from './mirror.ts'

/** Keeps the mirror of the last folder open. Its owner says where it is from; a guest asks no server. */
export function openGuestMirrors(): (
  directory: string,
  options?: Pick<MirrorOptions, 'mostPaths'>,
) => Promise<Mirror> {
  let known: { readonly folder: string; readonly repository: Mirror } | undefined
  return async (directory, options = {}) => {
    // A mirror that was made anew has its old path: what is open of the one before reads nothing that came since.
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
