// The objects of a bundle as OLM v1 and RukPak read them: every document of every file in `manifests/`, with lists
// unpacked. opm and OLM v0 read only the first document; see `registry-bundle.ts`.
import { memoizePerObject, getOrCreate } from '@catalog-bot/findings/memoize'
import { readJson, skipJsonWhitespace } from '@catalog-bot/fbc/go/json/read-json'
import { getMapValue, getStringByKey, type MapValue, type ParsedValue } from '@catalog-bot/fbc/go/tree'
import { decodeUtf8LikeGo } from '@catalog-bot/fbc/go/utf8'
import { decodeYaml, splitYamlChunks, trimLeadingSpace } from '@catalog-bot/fbc/go/yaml/encoding'
import { readYaml } from '@catalog-bot/fbc/go/yaml/read-yaml'
import { createFieldPathLocator } from '@catalog-bot/fbc/positions/locate-path'
import type { Location } from '@catalog-bot/findings/finding'
import { findFilesInDirectory, type BundleFiles } from '../bundle-files.ts'
import type { FieldPath } from '../manifest-document.ts'

export interface ParsedManifestObject {
  readonly file: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly tree: MapValue
  /** The bytes of its document in the file. */
  readonly document: { readonly start: number; readonly end: number }
  /** From the document's root to the object, which can be an item of a list. */
  readonly path: FieldPath
}

export interface UnreadableManifest {
  readonly file: string
  readonly reason: string
}

export interface ParsedBundleManifests {
  /** Ordered by file and document. */
  readonly objects: readonly ParsedManifestObject[]
  /** Files that OLM v1 and RukPak reject, each with the first reason. */
  readonly unreadable: readonly UnreadableManifest[]
}

interface ManifestDocumentWithOffsets {
  readonly value: ParsedValue
  readonly start: number
  readonly end: number
}

export const readBundleManifestObjects = memoizePerObject((files: BundleFiles): ParsedBundleManifests => {
  const objects: ParsedManifestObject[] = []
  const unreadable: UnreadableManifest[] = []
  for (const [file, bytes] of findFilesInDirectory(files, 'manifests', { hidden: true })) {
    try {
      for (const document of parseManifestDocuments(bytes))
        objects.push(...expandKubernetesList(file, document))
    } catch (error) {
      if (!(error instanceof UnreadableManifestError)) throw error
      unreadable.push({ file, reason: error.message })
    }
  }
  return { objects, unreadable }
})

export function createManifestFieldLocator(
  files: BundleFiles,
): (object: ParsedManifestObject, path: FieldPath) => Location {
  const locators = new Map<string, (path: FieldPath) => Omit<Location, 'file'>>()
  return ({ file, document: { start, end }, path: before }, path) => {
    const locate = getOrCreate(locators, `${start} ${file}`, () =>
      createFieldPathLocator(files.get(file) ?? new Uint8Array(0), start, end),
    )
    return { file, ...locate([...before, ...path]) }
  }
}

class UnreadableManifestError extends Error {}

function* parseManifestDocuments(bytes: Uint8Array): Generator<ManifestDocumentWithOffsets> {
  const text = decodeUtf8LikeGo(bytes)
  if (trimLeadingSpace(text).startsWith('{')) yield* parseJsonDocuments(text, bytes.length)
  else
    for (const { start, end, badSeparator } of splitYamlChunks(bytes, 0, 0, decodeUtf8LikeGo)) {
      if (badSeparator)
        throw new UnreadableManifestError(`invalid Yaml document separator: ${badSeparator.text}`)
      const result = readYaml(decodeYaml(bytes.subarray(start, end)))
      if (!result.ok) throw new UnreadableManifestError(result.error.message)
      if (result.value !== undefined) yield { value: result.value, start, end }
    }
}

function* parseJsonDocuments(text: string, length: number): Generator<ManifestDocumentWithOffsets> {
  for (let at = skipJsonWhitespace(text, 0); at < text.length;) {
    const { value, end } = parseJsonAtOffset(text, at)
    // Only the first document supports location lookup, because offsets in the others count bytes, not characters.
    yield { value, start: 0, end: length }
    at = skipJsonWhitespace(text, end)
  }
}

function parseJsonAtOffset(text: string, at: number): { readonly value: ParsedValue; readonly end: number } {
  try {
    return readJson(text, at)
  } catch (error) {
    throw new UnreadableManifestError((error as Error).message)
  }
}

/** The object itself, or the items of a list. Doesn't unpack nested lists. */
function* expandKubernetesList(
  file: string,
  { value, start, end }: ManifestDocumentWithOffsets,
): Generator<ParsedManifestObject> {
  if (value.kind === 'null') return
  if (value.kind !== 'map') throw new UnreadableManifestError('a document is not an object')
  const whole = parseManifestObjectIdentity(value)
  if (whole.kind === '') throw new UnreadableManifestError("Object 'Kind' is missing")
  const items = getMapValue(value, 'items')
  if (items === undefined) yield { file, ...whole, document: { start, end }, path: [] }
  else if (items.kind === 'list')
    for (const [index, item] of items.items.entries()) {
      if (item.kind !== 'map') throw new UnreadableManifestError('an item of the list is not an object')
      const own = parseManifestObjectIdentity(item)
      const inherited = own.kind === '' || own.apiVersion === ''
      const ofList = { apiVersion: whole.apiVersion, kind: whole.kind.replace(/List$/, '') }
      if (inherited && ofList.kind === '') throw new UnreadableManifestError("Object 'Kind' is missing")
      yield {
        ...{ file, ...own, ...(inherited && ofList) },
        ...{ document: { start, end }, path: ['items', index] },
      }
    }
  else if (items.kind !== 'null') throw new UnreadableManifestError('the items field is not a list')
}

function parseManifestObjectIdentity(tree: MapValue) {
  return {
    apiVersion: getStringByKey(tree, 'apiVersion'),
    kind: getStringByKey(tree, 'kind'),
    name: getStringByKey(getMapValue(tree, 'metadata'), 'name'),
    tree,
  }
}
