// A bundle to its `olm.bundle` blob, field for field what `opm render` gives (opm 1.73).
import type { Json } from '../catalog/catalog.ts'
import { compareBytes } from '../catalog/go-text.ts'
import { plainJson } from '../catalog/load/plain-json.ts'
import { readJson } from '../catalog/json/read-json.ts'
import { csvMetadata } from './csv-metadata.ts'
import { at, listOf, textOf } from './fields.ts'
import { annotationKeys, definedKinds, type RegistryBundle, type TypedValue } from './registry-bundle.ts'

export interface OlmBundle {
  readonly schema: 'olm.bundle'
  readonly name: string
  readonly package: string
  readonly image: string
  readonly properties: readonly { readonly type: string; readonly value: Json }[]
  /** Absent when there is none. */
  readonly relatedImages?: readonly RelatedImage[]
}

interface RelatedImage {
  readonly name: string
  readonly image: string
}

export interface RenderOptions {
  /** opm's `--migrate-level bundle-object-to-csv-metadata`: one `olm.csv.metadata` instead of the objects. */
  readonly csvMetadata?: boolean
}

/** `image` is the reference as it will stand in the catalog; '' for a bundle that has none. */
export function renderBundle(bundle: RegistryBundle, image: string, options: RenderOptions = {}): OlmBundle {
  const packageName = bundle.annotations[annotationKeys.package] ?? ''
  const described = describedProperties(bundle, packageName)
  // opm leaves a bundle without an image as it is.
  const isMigrated = options.csvMetadata === true && image !== ''
  const objects = bundle.objects.map(({ json }) => typed('olm.bundle.object', { data: base64(json) }))
  const bulky = isMigrated
    ? [typed('olm.csv.metadata', csvMetadata(bundle.csv.data))]
    : objects.sort(compareTyped)
  const related = relatedImages(bundle, image)
  return {
    schema: 'olm.bundle',
    name: bundle.csv.name,
    package: packageName,
    image,
    properties: [...described, ...bulky].map(({ type, value }) => ({ type, value })),
    ...(related.length > 0 && { relatedImages: related }),
  }
}

/** The version of a ClusterServiceVersion and its release, as texts. */
export function versionOf(csv: Json): { readonly version: string; readonly release: string } {
  const release = at(csv, 'spec', 'release')
  return {
    version: textOf(at(csv, 'spec', 'version')),
    release: typeof release === 'number' ? String(release) : textOf(release),
  }
}

function describedProperties(bundle: RegistryBundle, packageName: string): readonly TypedValue[] {
  const { csv, properties, dependencies } = bundle
  const { version, release } = versionOf(csv.data)
  const apiServices = (which: string) => gvks(at(csv.data, 'spec', 'apiservicedefinitions', which))
  const requiredCrds = listOf(at(csv.data, 'spec', 'customresourcedefinitions', 'required')).map((entry) => {
    const name = textOf(at(entry, 'name'))
    return gvk(name.slice(name.indexOf('.') + 1), textOf(at(entry, 'version')), textOf(at(entry, 'kind')))
  })
  const candidates = [
    ...properties,
    typed('olm.package', { packageName, version, ...(release !== '' && { release }) }),
    ...annotatedProperties(csv.data),
  ]
  // Of several the last counts: the annotation of the CSV over what the files say.
  const own = candidates.findLast(({ type }) => type === 'olm.package')
  const all = [
    ...candidates.filter((property) => property.type !== 'olm.package' || property === own),
    ...definedKinds(bundle.crds).map((kind) => typed('olm.gvk', gvk(kind.group, kind.version, kind.kind))),
    ...apiServices('owned').map((kind) => typed('olm.gvk', kind)),
    ...requiredCrds.map((kind) => typed('olm.gvk.required', kind)),
    ...apiServices('required').map((kind) => typed('olm.gvk.required', kind)),
    ...dependencies.map(requirement),
  ]
  const unique = new Map(all.map((property) => [`${property.type}\n${property.text}`, property]))
  return [...unique.values()].sort(compareTyped)
}

function requirement(dependency: TypedValue): TypedValue {
  const { type, value } = dependency
  if (type === 'olm.gvk')
    return typed(
      'olm.gvk.required',
      gvk(textOf(at(value, 'group')), textOf(at(value, 'version')), textOf(at(value, 'kind'))),
    )
  if (type === 'olm.package')
    return typed('olm.package.required', {
      packageName: textOf(at(value, 'packageName')),
      versionRange: textOf(at(value, 'version')),
    })
  return dependency
}

/** The list in the annotation `olm.properties`; opm only logs one that cannot be read. */
function annotatedProperties(csv: Json): readonly TypedValue[] {
  const text = textOf(at(csv, 'metadata', 'annotations', 'olm.properties'))
  if (text === '') return []
  try {
    const { value } = readJson(text, 0)
    if (value.kind !== 'list') return []
    return value.items.map((item) => {
      const entries = item.kind === 'map' ? item.entries : []
      const inner = entries.find(({ key }) => key === 'value')?.value
      const type = entries.find(({ key }) => key === 'type')?.value
      return {
        type: type?.kind === 'string' ? type.value : '',
        value: inner ? plainJson(inner) : null,
        // Kept as written, which is what opm sorts by.
        text: inner ? text.slice(inner.start, inner.end) : 'null',
      }
    })
  } catch {
    return []
  }
}

function relatedImages(bundle: RegistryBundle, image: string): readonly RelatedImage[] {
  const { data } = bundle.csv
  const images = listOf(at(data, 'spec', 'relatedImages')).map((entry) => ({
    name: textOf(at(entry, 'name')),
    image: textOf(at(entry, 'image')),
  }))
  const known = new Set(images.map((entry) => entry.image))
  const add = (reference: string) => {
    if (reference === '' || known.has(reference)) return
    known.add(reference)
    images.push({ name: '', image: reference })
  }
  add(image)
  for (const reference of operatorImages(data)) add(reference)
  return images.sort((a, b) => compareBytes(a.image, b.image))
}

/** Images of the containers and init containers that OLM would install. */
export function operatorImages(csv: Json): readonly string[] {
  if (at(csv, 'spec', 'install', 'strategy') !== 'deployment') return []
  return listOf(at(csv, 'spec', 'install', 'spec', 'deployments')).flatMap((deployment) => {
    const pod = at(deployment, 'spec', 'template', 'spec')
    return [...listOf(at(pod, 'containers')), ...listOf(at(pod, 'initContainers'))].map((container) =>
      textOf(at(container, 'image')),
    )
  })
}

function gvks(value: Json | undefined): readonly Json[] {
  return listOf(value).map((entry) =>
    gvk(textOf(at(entry, 'group')), textOf(at(entry, 'version')), textOf(at(entry, 'kind'))),
  )
}

function gvk(group: string, version: string, kind: string): Json {
  return { group, kind, version }
}

function typed(type: string, value: Json): TypedValue {
  return { type, value, text: JSON.stringify(value) }
}

function compareTyped(a: TypedValue, b: TypedValue): number {
  return compareBytes(a.type, b.type) || compareBytes(a.text, b.text)
}

function base64(text: string): string {
  const bytes = new TextEncoder().encode(text)
  let binary = ''
  for (let start = 0; start < bytes.length; start += 8192)
    binary += String.fromCharCode(...bytes.subarray(start, start + 8192))
  return btoa(binary)
}
