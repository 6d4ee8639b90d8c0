// `render DIR|TEMPLATE|LIST|REF...`: catalogs, templates, composite lists and bundles as one file-based catalog, byte
// for byte as opm writes it. Exit 1 when a source cannot be rendered, in opm's words where it has some; 2 when an image cannot be had.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { migrated, type MigrateLevel } from '../bundle/render/migrate-catalog.ts'
import { quote } from '../go/text.ts'
import type { BundleSource } from '../catalog/template/bundle-source.ts'
import { isTemplateSchema, renderTemplate, templateImages } from '../catalog/template/render-template.ts'
import { readTemplateDocument } from '../catalog/template/template-file.ts'
import { inRenderedOrder } from '../catalog/write/rendered-order.ts'
import { readWritable, type ReadResult, type WritableCatalog } from '../catalog/write/writable.ts'
import { writeJson } from '../catalog/write/write-json.ts'
import { writeYaml } from '../catalog/write/write-yaml.ts'
import { readReferenceList, type ReferenceList } from '../change/references/reference-list.ts'
import { openCatalogDirectory } from '../examine/catalogs/catalog-directory.ts'
import { printable } from '../findings/printable.ts'
import { catalogOf, renderBundleImage, renderFiles, renderImage } from '../image/rendered-image.ts'
import type { PulledBundle } from '../registry/pull-bundle.ts'
import { exitWith, print, say } from './output.ts'
import { mustNameRegistry, filesBelow, pullImages, withRegistry } from './pulled-bundles.ts'

export interface RenderCatalogOptions {
  readonly output: 'json' | 'yaml'
  readonly migrateLevel?: MigrateLevel
  readonly insecureRegistry?: readonly string[]
}

interface Source {
  readonly images: readonly string[]
  render(images: Images): ReadResult<WritableCatalog>
}

/** What was pulled: as bundles where only those will do, as whole catalogs where anything is welcome. */
interface Images {
  readonly bundles: BundleSource
  readonly catalogs: (reference: string) => ReadResult<WritableCatalog>
}

export async function render(sources: readonly string[], options: RenderCatalogOptions): Promise<void> {
  const opened = sources.map(open)
  const images = opened.flatMap((source) => source.images)
  images.forEach(mustNameRegistry)
  const pulled =
    images.length === 0
      ? new Map<string, PulledBundle>()
      : await withRegistry(options.insecureRegistry, (registry) => pullImages(registry, images))
  const content = imagesFrom(pulled)
  const catalogs: WritableCatalog[] = []
  for (const [index, source] of opened.entries()) {
    const rendered = source.render(content)
    if (!rendered.ok) {
      say(`Error: render ${quote(sources[index] ?? '')}: ${printable(rendered.error)}`)
      exitWith(1)
      return
    }
    catalogs.push(rendered.value)
  }
  const whole = merged(catalogs)
  const result = migrated(whole, options.migrateLevel ?? 'none')
  if (!result.ok) {
    say(`Error: ${printable(result.error)}`)
    exitWith(1)
    return
  }
  const text = (options.output === 'yaml' ? writeYaml : writeJson)(result.value)
  if (text !== '') print(text)
  exitWith(0)
}

/** As for opm, an existing path is a directory or template, and anything else is an image. */
function open(source: string): Source {
  if (source === '-') return template(readFileSync(0))
  const found = statSync(source, { throwIfNoEntry: false })
  if (!found) return { images: [source], render: ({ catalogs }) => catalogs(source) }
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

/** A template that cannot be read needs no images: rendering says why. A list has no schema, which a template needs. */
function template(bytes: Uint8Array): Source {
  const listed = readReferenceList(bytes)
  if (listed && !isTemplate(bytes)) return list(listed)
  const images = templateImages(bytes)
  return {
    images: images.ok ? images.value.filter((image) => image !== '') : [],
    render: ({ bundles }) => renderTemplate(bytes, bundles),
  }
}

function isTemplate(bytes: Uint8Array): boolean {
  const document = readTemplateDocument(bytes)
  return document.ok && isTemplateSchema(document.value.schema)
}

/** All that the images of a composite list hold, bundles or whole catalogs, in the order of the list. */
function list({ references }: ReferenceList): Source {
  return {
    images: references.map(({ image }) => image),
    render({ catalogs }) {
      const rendered: WritableCatalog[] = []
      for (const { name, image } of references) {
        const catalog = catalogs(image)
        if (!catalog.ok) return { ok: false, error: `reference ${quote(name)}: ${catalog.error}` }
        rendered.push(catalog.value)
      }
      return { ok: true, value: merged(rendered) }
    },
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

/** Throws for the first image that could not be pulled: that is the world's failure, and says nothing of the source. */
function imagesFrom(pulled: ReadonlyMap<string, PulledBundle | Error>): Images {
  const found = new Map<string, PulledBundle>()
  for (const [reference, image] of pulled) {
    if (image instanceof Error) throw new Error(`${reference}: ${image.message}`, { cause: image })
    found.set(reference, image)
  }
  const notPulled = (reference: string) =>
    ({ ok: false, error: `${quote(reference)} was not pulled` }) as const
  return {
    bundles(reference) {
      const image = found.get(reference)
      return image ? renderBundleImage(image, reference) : notPulled(reference)
    },
    catalogs(reference) {
      const image = found.get(reference)
      return image ? renderImage(image, reference) : notPulled(reference)
    },
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
