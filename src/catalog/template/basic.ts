// The basic template: a list of blobs whose bundles are image references, which rendering replaces.
import { string, struct } from '../../go/decode/go-type.ts'
import { readMetas, type ReadResult, type WritableBundle, type WritableCatalog } from '../write/writable.ts'
import type { BundleSource } from './bundle-source.ts'
import { entriesType, readTemplate, type TemplateDocument } from './template-file.ts'

const templateType = struct('basic.BasicTemplateData', { schema: string, entries: entriesType })

/** Passes other blobs through and, like opm, doesn't validate the result. */
export function renderBasic(template: TemplateDocument, source: BundleSource): ReadResult<WritableCatalog> {
  const catalog = read(template)
  if (!catalog.ok) return catalog
  const bundles: WritableBundle[] = []
  for (const bundle of catalog.value.bundles) {
    if (!isReference(bundle)) return unexpectedFields
    const rendered = source(bundle.image)
    if (!rendered.ok) return rendered
    bundles.push(...rendered.value.map(({ blob }) => blob))
  }
  return { ok: true, value: { ...catalog.value, bundles } }
}

/** In order, without duplicates. */
export function basicImages(template: TemplateDocument): ReadResult<string[]> {
  const catalog = read(template)
  if (!catalog.ok) return catalog
  if (!catalog.value.bundles.every(isReference)) return unexpectedFields
  return { ok: true, value: [...new Set(catalog.value.bundles.map(({ image }) => image))] }
}

const unexpectedFields = {
  ok: false as const,
  error: 'unexpected fields present in basic template bundle',
}

function read(template: TemplateDocument): ReadResult<WritableCatalog> {
  const read = readTemplate(templateType, template)
  return read.ok ? readMetas(read.value.blobs) : read
}

/** A name is ignored; any other field would be lost silently. */
function isReference(bundle: WritableBundle): boolean {
  return (
    bundle.image !== '' &&
    bundle.package === undefined &&
    bundle.properties === undefined &&
    bundle.relatedImages === undefined
  )
}
