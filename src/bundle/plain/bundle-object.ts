// The objects of a bundle as OLM v1 and RukPak read them: every document of every file in `manifests/`, lists unpacked.
// opm and OLM v0 read the first document only; what they see is `registry-bundle.ts`.
import { oncePer } from '../../findings/once.ts'
import { readJson, skipJsonSpace } from '../../go/json/read-json.ts'
import { valueAt, type MapValue, type Value } from '../../go/tree.ts'
import { decodeLikeGo } from '../../go/utf8.ts'
import { chunksOf, trimLeadingSpace } from '../../go/yaml/chunks.ts'
import { decodeYaml } from '../../go/yaml/encoding.ts'
import { readYaml } from '../../go/yaml/read-yaml.ts'
import { locator } from '../../catalog/positions/locate.ts'
import type { Location } from '../../findings/finding.ts'
import { filesIn, type BundleFiles } from '../bundle-files.ts'
import type { Path } from '../bundle-places.ts'

export interface BundleObject {
  readonly file: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly tree: MapValue
  /** The bytes of its document in the file. */
  readonly document: { readonly start: number; readonly end: number }
  /** From the document's root to the object: the item of a list. */
  readonly path: Path
}

export interface UnreadableFile {
  readonly file: string
  readonly reason: string
}

export interface BundleObjects {
  /** In the order of files and documents. */
  readonly objects: readonly BundleObject[]
  /** Files that OLM v1 and RukPak give up on, each with the first reason. */
  readonly unreadable: readonly UnreadableFile[]
}

interface Document {
  readonly value: Value
  readonly start: number
  readonly end: number
}

export const readBundleObjects = oncePer((files: BundleFiles): BundleObjects => {
  const objects: BundleObject[] = []
  const unreadable: UnreadableFile[] = []
  for (const [file, bytes] of filesIn(files, 'manifests', { hidden: true })) {
    try {
      for (const document of documentsOf(bytes)) objects.push(...objectsIn(file, document))
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      unreadable.push({ file, reason: error.message })
    }
  }
  return { objects, unreadable }
})

export function objectPlaces(files: BundleFiles): (object: BundleObject, path: Path) => Location {
  const locators = new Map<string, (path: Path) => Omit<Location, 'file'>>()
  return ({ file, document: { start, end }, path: before }, path) => {
    const key = `${start} ${file}`
    const known = locators.get(key) ?? locator(files.get(file) ?? new Uint8Array(0), start, end)
    locators.set(key, known)
    return { file, ...known([...before, ...path]) }
  }
}

class Unreadable extends Error {}

function* documentsOf(bytes: Uint8Array): Generator<Document> {
  const text = decodeLikeGo(bytes)
  if (trimLeadingSpace(text).startsWith('{')) yield* jsonDocuments(text, bytes.length)
  else
    for (const { start, end, badSeparator } of chunksOf(bytes, 0, 0, decodeLikeGo)) {
      if (badSeparator) throw new Unreadable(`invalid Yaml document separator: ${badSeparator.text}`)
      const result = readYaml(decodeYaml(bytes.subarray(start, end)))
      if (!result.ok) throw new Unreadable(result.error.message)
      if (result.value !== undefined) yield { value: result.value, start, end }
    }
}

function* jsonDocuments(text: string, length: number): Generator<Document> {
  for (let at = skipJsonSpace(text, 0); at < text.length;) {
    const { value, end } = jsonAt(text, at)
    // Only the first is looked up by its place: offsets of the others would count bytes, not letters.
    yield { value, start: 0, end: length }
    at = skipJsonSpace(text, end)
  }
}

function jsonAt(text: string, at: number): { readonly value: Value; readonly end: number } {
  try {
    return readJson(text, at)
  } catch (error) {
    throw new Unreadable((error as Error).message)
  }
}

/** The object itself, or the items of a list. Doesn't unpack nested lists. */
function* objectsIn(file: string, { value, start, end }: Document): Generator<BundleObject> {
  if (value.kind === 'null') return
  if (value.kind !== 'map') throw new Unreadable('one of its documents is no object')
  const whole = namedObject(value)
  if (whole.kind === '') throw new Unreadable("Object 'Kind' is missing")
  const items = valueAt(value, 'items')
  if (items === undefined) yield { file, ...whole, document: { start, end }, path: [] }
  else if (items.kind === 'list')
    for (const [index, item] of items.items.entries()) {
      if (item.kind !== 'map') throw new Unreadable('one of its items is no object')
      const own = namedObject(item)
      const inherited = own.kind === '' || own.apiVersion === ''
      const ofList = { apiVersion: whole.apiVersion, kind: whole.kind.replace(/List$/, '') }
      if (inherited && ofList.kind === '') throw new Unreadable("Object 'Kind' is missing")
      yield {
        ...{ file, ...own, ...(inherited && ofList) },
        ...{ document: { start, end }, path: ['items', index] },
      }
    }
  else if (items.kind !== 'null') throw new Unreadable('its items are no list')
}

function namedObject(tree: MapValue): Pick<BundleObject, 'apiVersion' | 'kind' | 'name' | 'tree'> {
  return {
    apiVersion: scalar(tree, 'apiVersion'),
    kind: scalar(tree, 'kind'),
    name: scalar(valueAt(tree, 'metadata'), 'name'),
    tree,
  }
}

function scalar(value: Value | undefined, key: string): string {
  const inner = valueAt(value, key)
  return inner?.kind === 'string' ? inner.value : ''
}
