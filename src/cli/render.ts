// `render DIR|TEMPLATE|REF...`: catalogs, templates and bundles as one file-based catalog, byte for byte as opm writes
// it. Exit 1 when a source cannot be rendered, in opm's words where it has some; 2 when an image cannot be had.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { annotationKeys, readRegistryBundle } from '../bundle/registry-bundle.ts'
import type { BundleFiles } from '../bundle/bundle-files.ts'
import { renderBundle } from '../bundle/render-bundle.ts'
import { quote } from '../catalog/go-text.ts'
import type { BundleSource, RenderedBundle } from '../catalog/template/bundle-source.ts'
import { renderTemplate, templateImages } from '../catalog/template/render-template.ts'
import { inRenderedOrder } from '../catalog/write/rendered-order.ts'
import { readWritable, type ReadResult, type WritableCatalog } from '../catalog/write/writable.ts'
import { writeJson } from '../catalog/write/write-json.ts'
import { writeYaml } from '../catalog/write/write-yaml.ts'
import { openCatalogDirectory } from '../files/catalog-directory.ts'
import { printable } from '../findings/printable.ts'
import type { PulledBundle } from '../registry/pull-bundle.ts'
import { exitWith, print, say } from './output.ts'
import { filesBelow, pullBundles, withRegistry } from './pulled-bundles.ts'

export interface RenderCatalogOptions {
  readonly output: 'json' | 'yaml'
  readonly insecureRegistry?: readonly string[]
}

/** opm refuses shorter references, which Docker would look for on its own registry. */
const namesRegistry = /^(?:localhost|[a-z0-9[][^/]*[.:][^/]*)\//i

/** A source once it was looked at: what it needs from registries, and how it is rendered with that. */
interface Source {
  readonly images: readonly string[]
  render(bundles: BundleSource): ReadResult<WritableCatalog>
}

export async function render(sources: readonly string[], options: RenderCatalogOptions): Promise<void> {
  const opened = sources.map(open)
  const images = opened.flatMap((source) => source.images)
  for (const image of images)
    if (!namesRegistry.test(image))
      throw new Error(
        `${quote(image)} is no file or directory, and names no registry: an image is HOST/REPOSITORY:TAG`,
      )
  const bundles =
    images.length === 0
      ? noBundles
      : await withRegistry(options.insecureRegistry, async (registry) =>
          bundlesFrom(await pullBundles(registry, images)),
        )
  const catalogs: WritableCatalog[] = []
  for (const [index, source] of opened.entries()) {
    const rendered = source.render(bundles)
    if (!rendered.ok) {
      say(`Error: render ${quote(sources[index] ?? '')}: ${printable(rendered.error)}`)
      exitWith(1)
      return
    }
    catalogs.push(rendered.value)
  }
  const text = (options.output === 'yaml' ? writeYaml : writeJson)(merged(catalogs))
  if (text !== '') print(text)
  exitWith(0)
}

/** A path that exists is a directory or a template; anything else is an image, as for opm. */
function open(source: string): Source {
  if (source === '-') return template(readFileSync(0))
  const found = statSync(source, { throwIfNoEntry: false })
  if (!found)
    return {
      images: [source],
      render: (bundles) => {
        const found = bundles(source)
        return found.ok ? { ok: true, value: catalogOf(found.value) } : found
      },
    }
  if (!found.isDirectory()) return template(readFileSync(source))
  if (['manifests', 'metadata'].every((name) => isDirectory(join(source, name))))
    return {
      images: [],
      render: () => {
        const bundle = renderFiles(filesBelow(source), '')
        return bundle.ok ? { ok: true, value: catalogOf(bundle.value) } : bundle
      },
    }
  return { images: [], render: () => renderDirectory(source) }
}

function isDirectory(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

/** A template that cannot be read needs no images: rendering says why. */
function template(bytes: Uint8Array): Source {
  const images = templateImages(bytes)
  return {
    images: images.ok ? images.value.filter((image) => image !== '') : [],
    render: (bundles) => renderTemplate(bytes, bundles),
  }
}

function renderDirectory(dir: string): ReadResult<WritableCatalog> {
  const directory = openCatalogDirectory(dir)
  if (directory.kind !== 'files') return { ok: false, error: directory.message }
  let unreadable: string | undefined
  const read = readWritable(
    (function* () {
      for (const file of directory.files) {
        const bytes = file.read()
        if ('error' in bytes) {
          unreadable = bytes.error
          return
        }
        yield bytes
      }
    })(),
  )
  if (!read.ok) return read
  if (unreadable !== undefined) return { ok: false, error: unreadable }
  return { ok: true, value: inRenderedOrder(read.value) }
}

const noBundles: BundleSource = (reference) => ({ ok: false, error: `${quote(reference)} was not pulled` })

/** Throws for the first image that could not be pulled: that is the world's failure, and says nothing of the source. */
function bundlesFrom(pulled: ReadonlyMap<string, PulledBundle | Error>): BundleSource {
  const rendered = new Map<string, ReturnType<BundleSource>>()
  for (const [reference, bundle] of pulled) {
    if (bundle instanceof Error) throw new Error(`${reference}: ${bundle.message}`, { cause: bundle })
    rendered.set(
      reference,
      annotationKeys.package in bundle.labels
        ? renderFiles(bundle.files, reference)
        : { ok: false, error: `${quote(reference)} is no bundle: no label names its package` },
    )
  }
  return (reference) => rendered.get(reference) ?? noBundles(reference)
}

function renderFiles(files: BundleFiles, image: string): ReadResult<readonly RenderedBundle[]> {
  const { bundle, problem } = readRegistryBundle(files)
  if (!bundle) return { ok: false, error: problem }
  return { ok: true, value: [{ blob: renderBundle(bundle, image), csv: bundle.csv.data }] }
}

function catalogOf(bundles: readonly RenderedBundle[]): WritableCatalog {
  return {
    packages: [],
    channels: [],
    bundles: bundles.map(({ blob }) => blob),
    deprecations: [],
    others: [],
  }
}

function merged(catalogs: readonly WritableCatalog[]): WritableCatalog {
  return {
    packages: catalogs.flatMap(({ packages }) => packages),
    channels: catalogs.flatMap(({ channels }) => channels),
    bundles: catalogs.flatMap(({ bundles }) => bundles),
    deprecations: catalogs.flatMap(({ deprecations }) => deprecations),
    others: catalogs.flatMap(({ others }) => others),
  }
}
