// One served catalog file: its facts, and every blob as opm's JSON line. Reads small, common data eagerly and the rest
// on demand (served-catalog.ts).
import type { FileFacts } from '../facts/catalog.ts'
import { quote } from '../../go/text.ts'
import { readFile } from '../load/read-file.ts'
import type { Meta } from '../load/meta.ts'
import type { GroupVersionKind } from './api-types.ts'
import { NotServed, problemInPackage, readBundleContent, wholeBlobText } from './bundle-content.ts'
import { customProblem } from './custom-blobs.ts'
import { keepIndexBlob, type IndexBlobs } from './index-blobs.ts'

export interface ServedBlob {
  readonly schema: string
  /** The blob's `package` field; olm.package blobs have none. */
  readonly package: string
  readonly name: string
  /** One line of UTF-8 JSON, including the line feed. */
  readonly line: Uint8Array
}

export interface ServedFile extends IndexBlobs {
  readonly facts: FileFacts
  readonly blobs: readonly ServedBlob[]
  readonly bundles: readonly BundleLine[]
  /** Why opm accepts the file but refuses to serve it. */
  readonly problem?: string
}

export interface BundleLine {
  readonly package: string
  readonly name: string
  readonly blob: ServedBlob
  readonly providedApis: readonly GroupVersionKind[]
}

const encoder = new TextEncoder()

/** Never throws. For a file that opm can't load, only the facts are meaningful. */
export function readServedFile(bytes: Uint8Array): ServedFile {
  const drafted = emptyDraft()
  let problem: string | undefined
  // Works blob by blob, because the parsed file is several times larger than the file.
  const onMeta = (meta: Meta) => {
    problem ??= addBlob(meta, drafted)
  }
  const facts = readFile(bytes, { forVerdict: true, onMeta })
  if (facts.loadError !== undefined) return { facts, ...emptyDraft() }
  return { facts, ...drafted, ...(problem !== undefined && { problem }) }
}

const emptyDraft = () => ({
  blobs: [] as ServedBlob[],
  bundles: [] as BundleLine[],
  packages: [],
  channels: [],
  deprecations: [],
})

type Drafted = Pick<ServedFile, keyof IndexBlobs> & {
  readonly blobs: ServedBlob[]
  readonly bundles: BundleLine[]
}

function addBlob(meta: Meta, into: Drafted): string | undefined {
  const { schema, name, package: of, value } = meta
  try {
    const blob = { schema, package: of, name, line: encoder.encode(`${wholeBlobText(value)}\n`) }
    into.blobs.push(blob)
    if (keepIndexBlob(into, meta)) return undefined
    if (schema !== 'olm.bundle') return customProblem(blob)
    const { package: parent, name: its, objects, providedApis } = readBundleContent(value)
    // Unlike the cache, the protocol can't carry bytes that aren't text.
    if (!objects.every((json) => json.isWellFormed()))
      throw new NotServed(`store bundle ${quote(its)}: string field contains invalid UTF-8`)
    into.bundles.push({ package: parent, name: its, blob, providedApis })
    return undefined
  } catch (error) {
    if (error instanceof NotServed) return problemInPackage(of, error.message)
    throw error
  }
}
