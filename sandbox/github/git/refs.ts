// The refs of a bare repository, read from its files, because frequent operations should not start a Git process.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The refs whose full names start with one of `prefixes`, with their IDs, sorted by name. */
export async function readRefs(
  repository: string,
  prefixes: readonly string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const isRequested = (ref: string) => prefixes.some((one) => ref.startsWith(one))
  const read = async (folder: string): Promise<void> => {
    for (const entry of await readDirectoryEntries(join(repository, folder))) {
      const ref = `${folder}/${entry.name}`
      if (entry.isDirectory() && prefixes.some((one) => one.startsWith(`${ref}/`) || ref.startsWith(one)))
        await read(ref)
      else if (entry.isFile() && isRequested(ref) && !ref.endsWith('.lock')) {
        const id = (await readFileTextOrEmpty(join(repository, ref))).trim()
        if (/^[0-9a-f]{40}$/.test(id)) found.set(ref, id)
      }
    }
  }
  await read('refs')
  // After the loose refs, so that a ref that is being packed is found in at least one place.
  for (const line of (await readFileTextOrEmpty(join(repository, 'packed-refs'))).split('\n')) {
    const [, id = '', ref = ''] = /^([0-9a-f]{40}) (.+)$/.exec(line) ?? []
    if (isRequested(ref) && !found.has(ref)) found.set(ref, id)
  }
  return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)))
}

async function readDirectoryEntries(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

async function readFileTextOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return ''
  }
}

const safeRefNamePattern = /^refs(?:\/\w[\w-]*(?:\.[\w-]+)*)+$/

/**
 * Moves a ref, or deletes it (undefined), under Git's own lock. With `expected`, only if the ref has that value
 * ('': it must not exist). Returns false if nothing was done, for any reason. Then Git must do it, or report the
 * reason.
 */
export function updateRefFile(path: string, ref: string, to: string | undefined, expected?: string): boolean {
  if (!safeRefNamePattern.test(ref) || ref.endsWith('.lock') || existsSync(join(path, 'packed-refs')))
    return false
  const file = join(path, ref)
  const lock = `${file}.lock`
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(lock, to === undefined ? '' : `${to}\n`, { flag: 'wx' })
  } catch {
    return false
  }
  try {
    const now = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
    const isPlain = now === '' || /^[0-9a-f]{40}$/.test(now)
    if (!isPlain || (expected !== undefined && now !== expected)) return false
    if (to === undefined) rmSync(file, { force: true })
    else renameSync(lock, file)
    return true
  } catch {
    return false
  } finally {
    rmSync(lock, { force: true })
  }
}
