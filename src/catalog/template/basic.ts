// The basic template: a list of blobs, whose bundles are only image references and become the rendered bundles.
import { readMetas, type ReadResult, type WritableBundle, type WritableCatalog } from '../write/writable.ts'
import type { BundleSource } from './bundle-source.ts'
import { entriesOf, type TemplateDocument } from './template-file.ts'

/** Renders it. Everything but the bundles passes through; the result is not validated, as in opm. */
export function renderBasic(template: TemplateDocument, source: BundleSource): ReadResult<WritableCatalog> {
  const catalog = read(template)
  if (!catalog.ok) return catalog
  const bundles: WritableBundle[] = []
  for (const { image } of catalog.value.bundles) {
    const rendered = source(image)
    if (!rendered.ok) return rendered
    bundles.push(...rendered.value.map(({ blob }) => blob))
  }
  return { ok: true, value: { ...catalog.value, bundles } }
}

/** The references it needs, in order, each once. */
export function basicImages(template: TemplateDocument): ReadResult<string[]> {
  const catalog = read(template)
  return catalog.ok
    ? { ok: true, value: [...new Set(catalog.value.bundles.map(({ image }) => image))] }
    : catalog
}

function read(template: TemplateDocument): ReadResult<WritableCatalog> {
  const entries = entriesOf(template)
  if (!entries.ok) return entries
  const catalog = readMetas(entries.value)
  if (!catalog.ok) return catalog
  // A name is tolerated and ignored; anything more would be lost in silence.
  const isReference = (bundle: WritableBundle) =>
    bundle.image !== '' &&
    bundle.package === undefined &&
    bundle.properties === undefined &&
    bundle.relatedImages === undefined
  if (!catalog.value.bundles.every(isReference))
    return { ok: false, error: 'unexpected fields present in basic template bundle' }
  return catalog
}
