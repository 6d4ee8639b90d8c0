// Joins a mirror's packs and removes what dead processes left. Unreferenced objects remain for two weeks, because merge
// commits wait to be pushed.
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LocalGit } from './run-git.ts'

/** Each fetch leaves a pack; git slows down with hundreds of them. */
const maxMirrorPackFiles = 50
/** Each merge leaves some loose objects; git itself would tidy at 6700. */
const maxMirrorLooseObjects = 5000

/** Joins packs if there are many. True when it did. */
export async function consolidateMirrorPacks(git: LocalGit, directory: string): Promise<boolean> {
  const packs = (await listDirectoryNames(join(directory, 'objects', 'pack'))).filter((name) =>
    name.endsWith('.pack'),
  ).length
  // One of the 256 folders is used to estimate all of them, like git's own estimate.
  const loose = (await listDirectoryNames(join(directory, 'objects', '17'))).length * 256
  if (packs < maxMirrorPackFiles && loose < maxMirrorLooseObjects) return false
  await git(['pack-refs', '--all', '--prune'])
  if (loose < maxMirrorLooseObjects) await git(['repack', '-d', '-q', '--geometric=2'])
  else await git(['gc', '--quiet', '--prune=2.weeks.ago'])
  return true
}

/**
 * Removes lock files and unfinished packs of processes that no longer run. Only to be called while no git process
 * works on the mirror: at opening, before the first command.
 */
export async function removeStaleLocksAndTempFiles(directory: string): Promise<void> {
  const leftovers: string[] = []
  for (const name of await listDirectoryNames(directory))
    if (name.endsWith('.lock')) leftovers.push(join(directory, name))
  for (const name of await listDirectoryNames(join(directory, 'refs'), true))
    if (name.endsWith('.lock')) leftovers.push(join(directory, 'refs', name))
  for (const folder of ['', 'pack'])
    for (const name of await listDirectoryNames(join(directory, 'objects', folder)))
      if (/^\.?tmp[-_]/.test(name)) leftovers.push(join(directory, 'objects', folder, name))
  for (const path of leftovers) await rm(path, { force: true, recursive: true })
}

export async function pathExists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

async function listDirectoryNames(directory: string, recursive = false): Promise<readonly string[]> {
  try {
    return await readdir(directory, { recursive })
  } catch {
    return []
  }
}
