// Git's loose objects in a bare repository: one compressed file each. Starting Git takes longer than the sandbox's
// most frequent operations, so this module reads and writes the files directly. It does not read packs. For packed
// objects, the sandbox runs Git.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync, inflateSync } from 'node:zlib'

export type GitObjectType = 'commit' | 'tree' | 'blob' | 'tag'

export interface LooseObject {
  readonly type: GitObjectType
  readonly bytes: Buffer
}

/** An object that is not loose, or that this code does not support. */
export class NotLooseObjectError extends Error {}

/** The result from loose objects, or Git's result if they are not sufficient. */
export async function readLooseObjectsOrRunGit<T>(read: () => T, askGit: () => Promise<T>): Promise<T> {
  try {
    return read()
  } catch (error) {
    if (error instanceof NotLooseObjectError) return await askGit()
    throw error
  }
}

const objectIdPattern = /^[0-9a-f]{40}$/

/** Throws NotLooseObjectError, also if the object does not exist. */
export function readLooseObject(path: string, id: string): LooseObject {
  if (!objectIdPattern.test(id)) throw new NotLooseObjectError(id)
  for (const folder of listGitObjectDirectories(path)) {
    const raw = readFileIfExists(getLooseObjectPath(folder, id))
    if (raw === undefined) continue
    const bytes = inflateSync(raw)
    const end = bytes.indexOf(0)
    const type = bytes.toString('latin1', 0, bytes.indexOf(0x20))
    return { type: type as GitObjectType, bytes: bytes.subarray(end + 1) }
  }
  throw new NotLooseObjectError(id)
}

/** Writes an object unless it exists, and returns its ID. */
export function writeLooseObject(path: string, type: GitObjectType, bytes: Uint8Array): string {
  const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes])
  const id = createHash('sha1').update(whole).digest('hex')
  const file = getLooseObjectPath(join(path, 'objects'), id)
  if (readFileIfExists(file) !== undefined) return id
  // Readers find the complete file or none.
  const draft = `${file}-${process.pid}`
  const packed = deflateSync(whole, { level: 1 })
  try {
    writeFileSync(draft, packed, { mode: 0o444 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(draft, packed, { mode: 0o444 })
  }
  renameSync(draft, file)
  return id
}

const getLooseObjectPath = (folder: string, id: string): string => join(folder, id.slice(0, 2), id.slice(2))

/** The quarantine's own object folder first, and then that of its repository. */
function listGitObjectDirectories(path: string): string[] {
  const own = join(path, 'objects')
  const others = readFileIfExists(join(own, 'info', 'alternates'))?.toString() ?? ''
  return [own, ...others.split('\n').filter(Boolean)]
}

function readFileIfExists(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** A cache by repository and ID: an object never changes or disappears. Cleared when it becomes too large. */
export function memoizeByObjectId<T>(read: (path: string, id: string) => T): (path: string, id: string) => T {
  const cached = new Map<string, T>()
  return (path, id) => {
    const key = `${path} ${id}`
    const known = cached.get(key)
    if (known !== undefined) return known
    const found = read(path, id)
    if (cached.size >= 20_000) cached.clear()
    cached.set(key, found)
    return found
  }
}
