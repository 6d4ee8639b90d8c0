// A bundle of any format to the objects that installing it creates. Pure: it knows no cluster, and runs no template.
import type { Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import { bundlePlaces } from '../bundle-places.ts'
import { chartRoot, detectFormat } from '../bundle-format.ts'
import type { BundleFiles } from '../bundle-files.ts'
import { at, textOf } from '../fields.ts'
import { dataOf } from '../manifest-document.ts'
import { refusedByOlmV1 } from '../rules/refused-by-olm-v1.ts'
import { readBundleObjects } from './bundle-object.ts'
import { loadRegistryV1 } from './registry-v1.ts'
import { refuseExtension, renderRegistry } from './render-registry.ts'
import type { JsonObject, PlainObject, Rendering, RenderOptions, RenderRefusal } from './rendering.ts'

/**
 * What would be created: registry+v1 by OLM v1's algorithm (operator-controller v1.11), plain+v0 as it stands. A helm+v3
 * bundle gives its CRDs only, and says so in `open`. Never throws, whatever the files are.
 */
export function renderPlain(files: BundleFiles, options: RenderOptions): Rendering {
  const format = detectFormat(files)
  if (format === undefined) return { objects: [], refusals: [], findings: [], open: [] }
  const rendered =
    format === 'registry+v1'
      ? registryRendering(files, options)
      : format === 'plain+v0'
        ? plainRendering(files)
        : chartRendering(files)
  return { format, open: [], ...rendered, findings: untold(files, rendered.refusals) }
}

type Rendered = Pick<Rendering, 'objects' | 'refusals'> & Partial<Pick<Rendering, 'open'>>

function registryRendering(files: BundleFiles, options: RenderOptions): Rendered {
  const loaded = loadRegistryV1(files)
  if (!loaded.bundle) return { objects: [], refusals: loaded.refusals }
  const refused = refuseExtension(loaded.bundle, options)
  const { objects, refusals } = renderRegistry(loaded.bundle, options)
  const all = [...refused, ...refusals]
  return { objects: all.length > 0 ? [] : objects, refusals: all }
}

/** RukPak wraps each object into a chart of its own; what Helm would make of braces in it is not known here. */
function plainRendering(files: BundleFiles): Rendered {
  const { objects, unreadable } = readBundleObjects(files)
  const refusals: readonly RenderRefusal[] = unreadable.map(({ file, reason }) => ({
    message: `${file}: ${reason}`,
    at: { file, path: [] },
    toldBy: 'undecodable-manifest',
  }))
  if (refusals.length > 0) return { objects: [], refusals }
  const plain = objects.map(({ file, apiVersion, kind, name, tree }): PlainObject => {
    const data = { ...(dataOf(tree) as JsonObject), apiVersion, kind }
    const namespace = textOf(at(data, 'metadata', 'namespace'))
    return { file, apiVersion, kind, name, ...(namespace !== '' && { namespace }), manifest: data }
  })
  const braces = [...new Set(plain.filter(hasBraces).map(({ file }) => file))]
  return {
    objects: plain,
    refusals,
    open: braces.map(
      (file) => `${file} has "{{" in it, which Helm evaluates: what becomes of it was not found out.`,
    ),
  }
}

function hasBraces({ manifest }: PlainObject): boolean {
  return JSON.stringify(manifest).includes('{{')
}

/** The CRDs of a chart are no templates; everything else is one. */
function chartRendering(files: BundleFiles): Rendered {
  const root = chartRoot(files) ?? ''
  const crds = new Map(
    [...files].flatMap(([path, bytes]): [string, Uint8Array][] => {
      const below = `${root}crds/`
      return path.startsWith(below) && !path.slice(below.length).includes('/')
        ? [[`manifests/${path.slice(below.length)}`, bytes]]
        : []
    }),
  )
  const { objects, unreadable } = readBundleObjects(crds)
  const original = (file: string) => file.replace('manifests/', `${root}crds/`)
  const templates = [...files.keys()].filter((path) => path.startsWith(`${root}templates/`)).length
  return {
    objects: objects.map(({ file, apiVersion, kind, name, tree }) => ({
      ...{ file: original(file), apiVersion, kind, name },
      manifest: dataOf(tree) as JsonObject,
    })),
    refusals: unreadable.map(({ file, reason }) => ({
      message: `${original(file)}: ${reason}`,
      at: { file: original(file), path: [] },
    })),
    open:
      templates === 0
        ? []
        : [
            `The chart was not rendered, which takes Helm: what its ${templates} templates create was not found out.`,
          ],
  }
}

function untold(files: BundleFiles, refusals: readonly RenderRefusal[]): readonly Finding[] {
  const placeOf = bundlePlaces(files)
  return refusals
    .filter(({ toldBy, isAboutOptions }) => toldBy === undefined && isAboutOptions !== true)
    .map(({ message, at: place }) =>
      finding(refusedByOlmV1, place && placeOf(place.file, place.path), { reason: message }),
    )
}
