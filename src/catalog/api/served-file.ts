// One catalog file as it is served: its facts, and every blob as the JSON line that opm makes of it. What is small and
// asked for often is read from the blobs at once, the rest when somebody asks (served-catalog.ts).
import type { FileFacts } from '../facts/catalog.ts'
import { quote } from '../../go/text.ts'
import { readFile } from '../load/read-file.ts'
import type { Meta } from '../load/meta.ts'
import type { GroupVersionKind } from './api-types.ts'
import { NotServed, problemInPackage, readBundleContent, wholeBlobText } from './bundle-content.ts'
import { customProblem } from './custom-blobs.ts'
import { keepIndexBlob, type IndexBlobs } from './index-blobs.ts'

/** A blob of any schema, as opm and catalogd keep it. */
export interface ServedBlob {
  readonly schema: string
  /** As the blob says; an olm.package says none. */
  readonly package: string
  readonly name: string
  /** UTF-8 of one line of JSON, with its end. */
  readonly line: Uint8Array
}

export interface ServedFile extends IndexBlobs {
  readonly facts: FileFacts
  /** In the order of the file. */
  readonly blobs: readonly ServedBlob[]
  readonly bundles: readonly BundleLine[]
  /** What opm accepts in a catalog and refuses to serve, in its words where it has some. */
  readonly problem?: string
}

/** Where a bundle is, and what everybody asks of it. */
export interface BundleLine {
  readonly package: string
  readonly name: string
  readonly blob: ServedBlob
  readonly providedApis: readonly GroupVersionKind[]
}

const encoder = new TextEncoder()

/** Never throws on what a file holds. Of a file that opm does not load, only the facts say something. */
export function readServedFile(bytes: Uint8Array): ServedFile {
  const drafted = emptyDraft()
  let problem: string | undefined
  // Blob by blob, as they are read: what is read of a file is several times as large as the file.
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
    // Unlike its cache, the protocol has no place for bytes that are no text.
    if (!objects.every((json) => json.isWellFormed()))
      throw new NotServed(`store bundle ${quote(its)}: string field contains invalid UTF-8`)
    into.bundles.push({ package: parent, name: its, blob, providedApis })
    return undefined
  } catch (error) {
    if (error instanceof NotServed) return problemInPackage(of, error.message)
    throw error
  }
}
