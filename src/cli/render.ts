// `render DIR|TEMPLATE|LIST|REF...`: renders sources to one file-based catalog, byte for byte like opm.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { migrateCatalog, type MigrateLevel } from '@catalog-bot/bundle/render/csv-metadata'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import type { RenderedBundleLookup } from '@catalog-bot/fbc/template/bundle-source'
import {
  isTemplateSchema,
  renderTemplate,
  getTemplateImages,
} from '@catalog-bot/fbc/template/render-template'
import {
  parseTemplateDocument,
  convertToTemplate,
  type TemplateConversionKind,
} from '@catalog-bot/fbc/template/template-document'
import { sortCatalogForRendering } from '@catalog-bot/fbc/write/blob-order'
import {
  parseWritableCatalog,
  type CatalogReadResult,
  type WritableCatalog,
} from '@catalog-bot/fbc/write/writable-catalog'
import { formatCatalogJson } from '@catalog-bot/fbc/write/format-json'
import { formatCatalogYaml } from '@catalog-bot/fbc/write/format-yaml'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { parseCompositeListFile, type CompositeListFile } from '../pull-request/references/composite-list.ts'
import { listCatalogDirectoryFiles } from '../catalogs/catalog-directory.ts'
import { formatCompositeCatalogEntry, toImagePullError } from '../adapters/image/composite-catalog.ts'
import {
  createCatalogWithOnlyBundles,
  renderBundleImage,
  renderBundleFiles,
  renderImage,
} from '../adapters/image/render-image.ts'
import type { PulledBundle } from '../adapters/registry/pull-bundle.ts'
import { RegistryError } from '../adapters/registry/registry-error.ts'
import { setExitCode, printToStdout, printToStderr } from './output.ts'
import {
  requireImageReferenceSyntax,
  readBundleDirectory,
  pullBundleOrCatalogImages,
  withRegistryClient,
} from './pulled-bundles.ts'

interface ConvertTemplateOptions {
  readonly output: 'json' | 'yaml'
}

interface RenderCatalogOptions {
  readonly output: 'json' | 'yaml'
  readonly migrateLevel?: MigrateLevel
  readonly insecureRegistry?: readonly string[]
}

interface CatalogRenderInput {
  readonly images: readonly string[]
  /** Identifies an image in messages. Default: its reference. */
  readonly imageLabels?: ReadonlyMap<string, string>
  render(images: PulledImageContents): CatalogReadResult<WritableCatalog>
}

/** The pulled images: as bundles for sources that accept only bundles, or as catalogs for sources that accept both. */
interface PulledImageContents {
  readonly bundles: RenderedBundleLookup
  readonly catalogs: (reference: string) => CatalogReadResult<WritableCatalog>
}

export async function runRender(sources: readonly string[], options: RenderCatalogOptions): Promise<void> {
  const opened = sources.map(createCatalogRenderInput)
  const images = opened.flatMap((source) => source.images)
  images.forEach(requireImageReferenceSyntax)
  const pulled =
    images.length === 0
      ? new Map<string, PulledBundle>()
      : await withRegistryClient(options.insecureRegistry, (registry, report) =>
          pullBundleOrCatalogImages(registry, images, report),
        )
  const labels = new Map(opened.flatMap(({ imageLabels }) => [...(imageLabels ?? [])]))
  const content = createPulledImageContents(pulled, labels)
  const catalogs: WritableCatalog[] = []
  for (const [index, source] of opened.entries()) {
    const rendered = source.render(content)
    if (!rendered.ok) {
      printToStderr(
        `Error: render ${quoteLikeGo(sources[index] ?? '')}: ${escapeNonPrintableCharacters(rendered.error)}`,
      )
      setExitCode(1)
      return
    }
    catalogs.push(rendered.value)
  }
  const whole = mergeCatalogs(catalogs)
  const result = migrateCatalog(whole, options.migrateLevel ?? 'none')
  if (!result.ok) {
    printToStderr(`Error: ${escapeNonPrintableCharacters(result.error)}`)
    setExitCode(1)
    return
  }
  const text = (options.output === 'yaml' ? formatCatalogYaml : formatCatalogJson)(result.value)
  if (text !== '') printToStdout(text)
  setExitCode(0)
}

/** As in opm, an existing path is a directory or a template, and anything else is an image. */
function createCatalogRenderInput(source: string): CatalogRenderInput {
  if (source === '-') return createTemplateRenderInput(readFileSync(0), 'standard input')
  const found = statSync(source, { throwIfNoEntry: false })
  if (!found) return { images: [source], render: ({ catalogs }) => catalogs(source) }
  if (!found.isDirectory()) return createTemplateRenderInput(readFileSync(source), source)
  if (['manifests', 'metadata'].every((name) => isDirectory(join(source, name))))
    return {
      images: [],
      render: () => {
        const bundle = renderBundleFiles(readBundleDirectory(source), '')
        return bundle.ok ? { ok: true, value: createCatalogWithOnlyBundles(bundle.value) } : bundle
      },
    }
  return { images: [], render: () => renderCatalogDirectory(source) }
}

const isDirectory = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()

/**
 * An unreadable template requires no images, and rendering it reports the reason. A composite file is not a template,
 * because it has no schema.
 */
function createTemplateRenderInput(bytes: Uint8Array, path: string): CatalogRenderInput {
  const listed = parseCompositeListFile(bytes)
  if (listed && !isTemplateFile(bytes)) return createImageListRenderInput(listed, path)
  const images = getTemplateImages(bytes)
  return {
    images: images.ok ? images.value.filter((image) => image !== '') : [],
    imageLabels: new Map(images.ok ? images.value.map((image) => [image, `${path}: ${image}`]) : []),
    render: ({ bundles }) => renderTemplate(bytes, bundles),
  }
}

function isTemplateFile(bytes: Uint8Array): boolean {
  const document = parseTemplateDocument(bytes)
  return document.ok && isTemplateSchema(document.value.schema)
}

/** The contents of all images in a composite file, bundles or catalogs, in the order of the file. */
function createImageListRenderInput({ references }: CompositeListFile, path: string): CatalogRenderInput {
  return {
    images: references.map(({ image }) => image),
    imageLabels: new Map(
      references.map((reference) => [reference.image, formatCompositeCatalogEntry(path, reference)]),
    ),
    render({ catalogs }) {
      const rendered: WritableCatalog[] = []
      for (const { name, image } of references) {
        const catalog = catalogs(image)
        if (!catalog.ok) return { ok: false, error: `reference ${quoteLikeGo(name)}: ${catalog.error}` }
        rendered.push(catalog.value)
      }
      return { ok: true, value: mergeCatalogs(rendered) }
    },
  }
}

function renderCatalogDirectory(dir: string): CatalogReadResult<WritableCatalog> {
  const directory = listCatalogDirectoryFiles(dir)
  if (directory.kind !== 'files') return { ok: false, error: directory.message }
  let unreadable: string | undefined
  const read = parseWritableCatalog(
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
  return { ok: true, value: sortCatalogForRendering(read.value) }
}

/** Throws for the first image that could not be pulled, because that is a failure of the environment, not of the source. */
function createPulledImageContents(
  pulled: ReadonlyMap<string, PulledBundle | Error>,
  labels: ReadonlyMap<string, string>,
): PulledImageContents {
  const found = new Map<string, PulledBundle>()
  for (const [reference, image] of pulled) {
    if (image instanceof Error) {
      const label = labels.get(reference) ?? reference
      if (image instanceof RegistryError) throw toImagePullError(label, image)
      throw new Error(`${label}: ${image.message}`, { cause: image })
    }
    found.set(reference, image)
  }
  const renderWith =
    <Value>(render: (image: PulledBundle, reference: string) => CatalogReadResult<Value>) =>
    (reference: string): CatalogReadResult<Value> => {
      const image = found.get(reference)
      return image
        ? render(image, reference)
        : { ok: false, error: `${quoteLikeGo(reference)} was not pulled` }
    }
  return { bundles: renderWith(renderBundleImage), catalogs: renderWith(renderImage) }
}

function mergeCatalogs(catalogs: readonly WritableCatalog[]): WritableCatalog {
  return {
    packages: catalogs.flatMap(({ packages }) => packages),
    channels: catalogs.flatMap(({ channels }) => channels),
    bundles: catalogs.flatMap(({ bundles }) => bundles),
    deprecations: catalogs.flatMap(({ deprecations }) => deprecations),
    others: catalogs.flatMap(({ others }) => others),
  }
}

/** `convert-template`: prints a template that renders to the catalog in a file, like opm. */
export function convertTemplate(
  kind: TemplateConversionKind,
  file: string | undefined,
  { output }: ConvertTemplateOptions,
): void {
  const read = convertToTemplate(kind, readFileOrStdin(file), output)
  if (read.ok) printToStdout(read.value)
  else printToStderr(`Error: converting: ${read.error}`)
  setExitCode(read.ok ? 0 : 1)
}

/** Without a file, a terminal as input would block forever. */
function readFileOrStdin(file = '-'): Uint8Array {
  if (file !== '-') {
    if (statSync(file).isDirectory())
      throw new Error(`${file} is a directory: specify one file of the catalog`)
    return readFileSync(file)
  }
  if (process.stdin.isTTY) throw new Error('specify a file, or provide one on standard input')
  return readFileSync(0)
}
