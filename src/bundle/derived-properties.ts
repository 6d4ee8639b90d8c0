// The properties of a bundle's `olm.bundle` blob, from the properties file, annotations, CSV, CRDs and dependencies.
// Throws a Refusal where opm fails.
import type { Json } from '../go/json/json.ts'
import { compareBytes, quote } from '../go/text.ts'
import { jsonNumber } from '../go/number.ts'
import { readJson, skipJsonSpace } from '../go/json/read-json.ts'
import { JsonError } from '../go/json/json-error.ts'
import { decode, structsOf, textOf } from '../go/decode/decode.ts'
import { goKind } from '../go/decode/go-value.ts'
import { plainJson } from '../go/json/plain-json.ts'
import type { Value } from '../go/tree.ts'
import { valueAt } from '../go/tree.ts'
import { annotationKeys, type BundleMetadata } from './bundle-metadata.ts'
import { gvkType, packageType, propertyListType } from './csv-type.ts'
import { decodeOrRefuse, Refusal } from './refusal.ts'

export interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface Property {
  readonly type: string
  readonly value: Json
  /** opm sorts by this JSON. */
  readonly text: string
}

/** Has no tree if the property has no value. */
interface WithTree extends Property {
  readonly tree: Value | undefined
}

export interface Sources {
  readonly name: string
  readonly csv: Value
  readonly file: string
  readonly spec: ReadonlyMap<string, Value>
  readonly metadata: BundleMetadata
  readonly provided: readonly Gvk[]
  /** Lazy, because it can throw a Refusal too. */
  readonly required: () => readonly Gvk[]
}

/** In opm's order; without `olm.bundle.object` and `olm.csv.metadata`. */
export function derivedProperties(sources: Sources): readonly Property[] {
  const { name, csv, file, spec, metadata, provided, required } = sources
  const packageName = metadata.annotations?.[annotationKeys.package] ?? ''
  // opm reads the version first, and only for a bundle with a package.
  const own = packageName === '' ? [] : [ownPackage(packageName, file, spec, 'failed to derive properties: ')]
  const before = `get properties for bundle ${quote(name)}: `
  const found = distinct([
    ...metadata.properties,
    ...own,
    ...annotated(csv),
    ...provided.map((kind) => withTree(property('olm.gvk', gvkJson(kind)))),
  ])
  const gvks = [...provided]
  const others: Property[] = []
  let package_: Property | undefined
  for (const [index, property] of found.entries()) {
    const parse = `${before}parse property[${index}] of type ${quote(property.type)}: `
    if (property.type === 'olm.gvk') gvks.push(gvkOf(property, parse))
    else if (property.type === 'olm.package') {
      const decoded = decodeOrRefuse(packageType, treeOf(property, parse), parse)
      const [itsName, version, release] = ['packageName', 'version', 'release'].map((key) =>
        textOf(decoded, key),
      )
      package_ = packageProperty(itsName ?? '', version ?? '', release ?? '')
    } else others.push(property)
  }
  const requiredGvks: Gvk[] = []
  const requiredPackages: Property[] = []
  for (const [index, dependency] of metadata.dependencies.entries()) {
    const parse = `${before}parse property[${index}] of type ${quote(dependency.type)}: `
    if (dependency.type === 'olm.gvk') requiredGvks.push(gvkOf(dependency, parse))
    else if (dependency.type === 'olm.package') {
      const decoded = decodeOrRefuse(packageType, treeOf(dependency, parse), parse)
      const value = { packageName: textOf(decoded, 'packageName'), versionRange: textOf(decoded, 'version') }
      requiredPackages.push(property('olm.package.required', value))
    } else others.push(dependency)
  }
  const { version, release } = versionOf(file, spec, `${before}get version: `, `${before}get release: `)
  package_ ??= packageProperty(packageName, version, release)
  requiredGvks.push(...required())
  const all = [
    package_,
    ...uniqueGvks(gvks).map((kind) => property('olm.gvk', gvkJson(kind))),
    ...uniqueGvks(requiredGvks).map((kind) => property('olm.gvk.required', gvkJson(kind))),
    ...requiredPackages,
    ...others,
  ]
  return all.sort((a, b) => compareBytes(a.type, b.type) || compareBytes(a.text, b.text))
}

function versionOf(
  file: string,
  spec: ReadonlyMap<string, Value>,
  beforeVersion: string,
  beforeRelease: string,
): { readonly version: string; readonly release: string } {
  const version = spec.get('version')
  if (version && version.kind !== 'string' && version.kind !== 'null')
    throw new Refusal(
      `${beforeVersion}json: cannot unmarshal ${goKind(version)} into Go value of type string`,
      { file, path: ['spec', 'version'] },
    )
  const release = spec.get('release')
  if (release && !['string', 'number', 'null'].includes(release.kind))
    throw new Refusal(`${beforeRelease}release field must be a string or number`, {
      file,
      path: ['spec', 'release'],
    })
  return {
    version: version?.kind === 'string' ? version.value : '',
    release:
      release?.kind === 'string'
        ? release.value
        : release?.kind === 'number'
          ? jsonNumber(release.value)
          : '',
  }
}

function ownPackage(
  packageName: string,
  file: string,
  spec: ReadonlyMap<string, Value>,
  before: string,
): WithTree {
  const { version, release } = versionOf(file, spec, before, before)
  return withTree(packageProperty(packageName, version, release))
}

function packageProperty(packageName: string, version: string, release: string): Property {
  return property('olm.package', { packageName, version, ...(release !== '' && { release }) })
}

/** From the annotation `olm.properties`. opm only logs an unreadable list and keeps what it has read. */
function annotated(csv: Value): readonly WithTree[] {
  const annotation = valueAt(valueAt(valueAt(csv, 'metadata'), 'annotations'), 'olm.properties')
  if (annotation?.kind !== 'string') return []
  const text = annotation.value
  const list = parsed(text)
  if (list?.kind !== 'list') return []
  const root: Value = {
    kind: 'map',
    start: 0,
    end: 0,
    entries: [{ key: 'list', keyStart: 0, keyEnd: 0, value: list }],
  }
  return structsOf(decode(propertyListType, root).decoded, 'list').map((item) => {
    const tree = item.sources.get('value')
    return {
      type: textOf(item, 'type'),
      value: tree ? plainJson(tree) : null,
      // As written, because opm sorts by it.
      text: tree ? text.slice(tree.start, tree.end) : '',
      tree,
    }
  })
}

function parsed(text: string): Value | undefined {
  try {
    const { value, end } = readJson(text, 0)
    return skipJsonSpace(text, end) < text.length ? undefined : value
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

function distinct(properties: readonly WithTree[]): readonly WithTree[] {
  const seen = new Set<string>()
  return properties.filter(({ type, text }) => {
    const key = `type: ${type}, value: ${text}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

function gvkOf(from: WithTree, before: string): Gvk {
  const decoded = decodeOrRefuse(gvkType, treeOf(from, before), before)
  return {
    group: textOf(decoded, 'group'),
    version: textOf(decoded, 'version'),
    kind: textOf(decoded, 'kind'),
  }
}

function treeOf({ tree }: WithTree, before: string): Value {
  if (!tree) throw new Refusal(`${before}unexpected end of JSON input`)
  return tree
}

function withTree(made: Property): WithTree {
  return { ...made, tree: readJson(made.text, 0).value }
}

function gvkJson({ group, version, kind }: Gvk): Json {
  return { group, kind, version }
}

function uniqueGvks(kinds: readonly Gvk[]): readonly Gvk[] {
  return [...new Map(kinds.map((kind) => [JSON.stringify(gvkJson(kind)), kind])).values()]
}

function property(type: string, value: Json): Property {
  return { type, value, text: JSON.stringify(value) }
}
