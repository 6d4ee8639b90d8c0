// Renders the files of a bundle or catalog image like opm. Pure; runs in layer/layer-process.ts.
import { bundleAnnotationKeys } from '@catalog-bot/bundle/bundle-metadata'
import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'
import { readRegistryBundle } from '@catalog-bot/bundle/registry-bundle'
import { renderBundle } from '@catalog-bot/bundle/render/render-bundle'
import { selectCatalogFilesInTree } from '@catalog-bot/fbc/load/select-files'
import type { RenderedBundle } from '@catalog-bot/fbc/template/bundle-source'
import { sortCatalogForRendering } from '@catalog-bot/fbc/write/blob-order'
import {
  parseWritableCatalog,
  type CatalogReadResult,
  type WritableCatalog,
} from '@catalog-bot/fbc/write/writable-catalog'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import { getCatalogDirectoryFromLabels, type PulledBundle } from '../registry/pull-bundle.ts'

export type PulledImageFiles = Pick<PulledBundle, 'labels' | 'files'>

/** Fails with opm's message if the image is neither a bundle nor a catalog. */
export function renderImage(image: PulledImageFiles, reference: string): CatalogReadResult<WritableCatalog> {
  const directory = getCatalogDirectoryFromLabels(image.labels)
  if (directory !== undefined) return renderCatalogFiles(image.files, directory)
  const rendered = renderBundleImage(image, reference)
  return rendered.ok ? { ok: true, value: createCatalogWithOnlyBundles(rendered.value) } : rendered
}

export function renderBundleImage(
  { labels, files }: PulledImageFiles,
  reference: string,
): CatalogReadResult<readonly RenderedBundle[]> {
  if (!(bundleAnnotationKeys.package in labels))
    return {
      ok: false,
      error: `${quoteLikeGo(reference)} is not a bundle: it has no label with a package name`,
    }
  return renderBundleFiles(files, reference)
}

function renderCatalogFiles(files: BundleFiles, directory: string): CatalogReadResult<WritableCatalog> {
  const below = new Map([...files].map(([path, bytes]) => [path.slice(directory.length + 1), bytes]))
  const selection = selectCatalogFilesInTree(below)
  if (selection.loadError) return { ok: false, error: selection.loadError.message }
  const read = parseWritableCatalog(selection.files.map((path) => below.get(path) ?? new Uint8Array()))
  return read.ok ? { ok: true, value: sortCatalogForRendering(read.value) } : read
}

export function renderBundleFiles(
  files: BundleFiles,
  image: string,
): CatalogReadResult<readonly RenderedBundle[]> {
  const { bundle, problem } = readRegistryBundle(files)
  if (!bundle) return { ok: false, error: problem }
  return { ok: true, value: [{ blob: renderBundle(bundle, image), csv: bundle.csv.data }] }
}

export function createCatalogWithOnlyBundles(bundles: readonly RenderedBundle[]): WritableCatalog {
  return {
    packages: [],
    channels: [],
    bundles: bundles.map(({ blob }) => blob),
    deprecations: [],
    others: [],
  }
}
