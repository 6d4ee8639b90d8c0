// One catalog file as it is served: its facts, and every blob as the JSON line that opm makes of it. What is small and
// asked for often is read from the blobs at once, the rest when somebody asks (served-catalog.ts).
import type { FileFacts } from '../facts/catalog.ts'
import { readFile } from '../load/read-file.ts'
import { documentsOf } from '../load/documents.ts'
import type { Meta } from '../load/meta.ts'
import { quote } from '../../go/text.ts'
import { jsonText } from '../../go/json/json-text.ts'
import type { GroupVersionKind } from './api-types.ts'
import { longestJson, readServedBundle } from './served-bundle.ts'
import {
  readServedChannel,
  readServedPackage,
  type ServedChannel,
  type ServedPackage,
} from './served-package.ts'

/** A blob of any schema, as opm and catalogd keep it. */
export interface ServedBlob {
  readonly schema: string
  /** As the blob says; an olm.package says none. */
  readonly package: string
  readonly name: string
  /** UTF-8 of one line of JSON, with its end. */
  readonly line: Uint8Array
}

export interface ServedFile {
  readonly facts: FileFacts
  /** In the order of the file. */
  readonly blobs: readonly ServedBlob[]
  readonly packages: readonly ServedPackage[]
  readonly channels: readonly ServedChannel[]
  readonly bundles: readonly BundleLine[]
  /** What opm accepts in a catalog and refuses to serve. */
  readonly problem?: { readonly package: string; readonly message: string }
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
  const facts = readFile(bytes, { forVerdict: true })
  const file = {
    facts,
    blobs: [] as ServedBlob[],
    packages: [] as ServedPackage[],
    channels: [] as ServedChannel[],
    bundles: [] as BundleLine[],
  }
  if (facts.loadError !== undefined) return file
  for (const { meta } of documentsOf(bytes)) {
    const message = meta && addBlob(meta, file)
    if (message !== undefined) return { ...file, problem: { package: meta?.package ?? '', message } }
  }
  return file
}

type Mutable<Type> = {
  -readonly [Name in keyof Type]: Type[Name] extends readonly (infer Item)[] ? Item[] : Type[Name]
}

function addBlob(meta: Meta, into: Mutable<ServedFile>): string | undefined {
  const { schema, name, value } = meta
  const text = jsonText(value, { escapeHtml: false, exactNumbers: false, maxLength: longestJson })
  if (text.length >= longestJson) return 'the blob is too long to be served'
  const blob = { schema, package: meta.package, name, line: encoder.encode(`${text}\n`) }
  into.blobs.push(blob)
  switch (schema) {
    case 'olm.package':
      into.packages.push(readServedPackage(value))
      return undefined
    case 'olm.channel':
      into.channels.push(readServedChannel(value))
      return undefined
    case 'olm.bundle': {
      const read = readServedBundle(value)
      if (!read.ok) return read.error
      const { package: of, name: its, providedApis } = read.value
      into.bundles.push({ package: of, name: its, blob, providedApis })
      return undefined
    }
    case 'olm.deprecations':
      return undefined
    default:
      return customProblem(blob)
  }
}

const component = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/
const componentText = '^[a-zA-Z0-9][a-zA-Z0-9._-]*$'

/** opm keeps custom blobs under names that are safe in paths, and serves no catalog with others. */
export function customProblem(custom: {
  readonly schema: string
  readonly package: string
}): string | undefined {
  const found =
    componentProblem('schema', custom.schema) ??
    (custom.package === '' ? undefined : componentProblem('packageName', custom.package))
  return found && `invalid custom schema meta: ${found}`
}

/** Why a text is no part of a custom blob's key, in opm's words. */
export function componentProblem(field: string, text: string): string | undefined {
  if (text === '') return `invalid ${field}: must not be empty`
  return component.test(text) ? undefined : `invalid ${field} ${quote(text)}: must match ${componentText}`
}
