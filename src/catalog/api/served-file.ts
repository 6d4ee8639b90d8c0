// One catalog file as it is served: its facts, and every blob as the JSON line that opm makes of it. What is small and
// asked for often is read from the blobs at once, the rest when somebody asks (served-catalog.ts).
import { bundlePackage } from '../cache/write-cache.ts'
import type { BundlePackage } from '../cache/api-bundle.ts'
import type { FileFacts } from '../facts/catalog.ts'
import { bundleType } from '../load/blob-types.ts'
import { readBundleObject } from '../load/bundle-object.ts'
import type { Meta } from '../load/meta.ts'
import { propertyTypes } from '../load/property-types.ts'
import { readFile } from '../load/read-file.ts'
import { decode, structsOf, textOf } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { jsonText } from '../../go/json/json-text.ts'
import { quote } from '../../go/text.ts'
import { decodeStrictly } from '../../go/utf8.ts'
import type { GroupVersionKind } from './api-types.ts'

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
  readonly packages: readonly BundlePackage[]
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

/** Aliases can make a short text into an endless one. */
const longestJson = 100_000_000
const encoder = new TextEncoder()

/** Never throws on what a file holds. Of a file that opm does not load, only the facts say something. */
export function readServedFile(bytes: Uint8Array): ServedFile {
  const file = {
    blobs: [] as ServedBlob[],
    packages: [] as BundlePackage[],
    bundles: [] as BundleLine[],
  }
  let problem: ServedFile['problem']
  const onMeta = (meta: Meta): void => {
    const message = addBlob(meta, file)
    if (message !== undefined) problem ??= { package: meta.package, message }
  }
  const facts = readFile(bytes, { forVerdict: true, onMeta })
  return { facts, ...file, ...(problem && { problem }) }
}

type Parts = {
  readonly [Name in 'blobs' | 'packages' | 'bundles']: ServedFile[Name][number][]
}

function addBlob({ schema, name, package: of, value }: Meta, into: Parts): string | undefined {
  const text = jsonText(value, { escapeHtml: false, exactNumbers: false, maxLength: longestJson })
  if (text.length >= longestJson) return 'the blob is too long to be served'
  const blob = { schema, package: of, name, line: encoder.encode(`${text}\n`) }
  into.blobs.push(blob)
  switch (schema) {
    case 'olm.package':
      into.packages.push(bundlePackage(value))
      return undefined
    case 'olm.bundle': {
      const { decoded } = decode(bundleType, value)
      const properties = structsOf(decoded, 'properties')
      const bundle = { package: textOf(decoded, 'package'), name: textOf(decoded, 'name') }
      into.bundles.push({ ...bundle, blob, providedApis: providedApis(properties) })
      return bundleProblem(bundle.name, properties)
    }
    case 'olm.channel':
    case 'olm.deprecations':
      return undefined
    default:
      return customProblem(blob)
  }
}

const gvk = propertyTypes.get('olm.gvk')

function providedApis(properties: readonly Decoded[]): readonly GroupVersionKind[] {
  return properties.flatMap((property) => {
    const value = property.sources.get('value')
    if (textOf(property, 'type') !== 'olm.gvk' || !value || !gvk) return []
    const { decoded } = decode(gvk, value)
    return [
      { group: textOf(decoded, 'group'), version: textOf(decoded, 'version'), kind: textOf(decoded, 'kind') },
    ]
  })
}

function bundleProblem(name: string, properties: readonly Decoded[]): string | undefined {
  const ofType = (type: string) => properties.filter((property) => textOf(property, 'type') === type)
  const metadata = ofType('olm.csv.metadata').length
  if (metadata > 1)
    return `parse properties: expected at most 1 property of type "olm.csv.metadata", found ${metadata}`
  let previous: (() => Uint8Array) | undefined
  for (const property of ofType('olm.bundle.object')) {
    previous = readBundleObject(property.sources.get('value'), previous).data
    // YAML is made JSON, whatever its bytes are; what begins with a brace is passed on as it is.
    if (looksLikeJson(previous()) && decodeStrictly(previous()) === undefined)
      return `store bundle ${quote(name)}: string field contains invalid UTF-8`
  }
  return undefined
}

function looksLikeJson(bytes: Uint8Array): boolean {
  return /^\s*\{/.test(new TextDecoder().decode(bytes.subarray(0, 4096)))
}

const component = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/

/** opm keeps custom blobs under names that are safe in paths, and serves no catalog with others. */
function customProblem(custom: { readonly schema: string; readonly package: string }): string | undefined {
  const found =
    componentProblem('schema', custom.schema) ??
    (custom.package === '' ? undefined : componentProblem('packageName', custom.package))
  return found && `invalid custom schema meta: ${found}`
}

/** Why a text is no part of a custom blob's key, in opm's words. */
export function componentProblem(field: string, text: string): string | undefined {
  if (text === '') return `invalid ${field}: must not be empty`
  return component.test(text) ? undefined : `invalid ${field} ${quote(text)}: must match ${component.source}`
}
