// The basic template: a list of blobs whose bundles are image references, which rendering replaces.
import { string, struct } from '../go/decode/go-type.ts'
import {
  toWritableCatalog,
  type CatalogReadResult,
  type WritableBundle,
  type WritableCatalog,
} from '../write/writable-catalog.ts'
import type { RenderedBundleLookup } from './bundle-source.ts'
import { entriesType, decodeTemplateWithBlobs, type TemplateDocument } from './template-document.ts'

const basicTemplateType = struct('basic.BasicTemplateData', { schema: string, entries: entriesType })

/** Copies other blobs unchanged and, like opm, does not validate the result. */
export function renderBasicTemplate(
  template: TemplateDocument,
  source: RenderedBundleLookup,
): CatalogReadResult<WritableCatalog> {
  const catalog = parseBasicTemplate(template)
  if (!catalog.ok) return catalog
  const bundles: WritableBundle[] = []
  for (const bundle of catalog.value.bundles) {
    if (!isImageReference(bundle)) return unexpectedFieldsError
    const rendered = source(bundle.image)
    if (!rendered.ok) return rendered
    bundles.push(...rendered.value.map(({ blob }) => blob))
  }
  return { ok: true, value: { ...catalog.value, bundles } }
}

/** In order, without duplicates. */
export function getBasicTemplateImages(template: TemplateDocument): CatalogReadResult<string[]> {
  const catalog = parseBasicTemplate(template)
  if (!catalog.ok) return catalog
  if (!catalog.value.bundles.every(isImageReference)) return unexpectedFieldsError
  return { ok: true, value: [...new Set(catalog.value.bundles.map(({ image }) => image))] }
}

const unexpectedFieldsError = {
  ok: false as const,
  error: 'unexpected fields present in basic template bundle',
}

function parseBasicTemplate(template: TemplateDocument): CatalogReadResult<WritableCatalog> {
  const read = decodeTemplateWithBlobs(basicTemplateType, template)
  return read.ok ? toWritableCatalog(read.value.blobs) : read
}

/** A name is ignored. Any other field would be lost silently. */
function isImageReference(bundle: WritableBundle): boolean {
  return (
    bundle.image !== '' &&
    bundle.package === undefined &&
    bundle.properties === undefined &&
    bundle.relatedImages === undefined
  )
}
