// Renders templates as `opm alpha render-template` does. The caller fetches the bundles of `getTemplateImages` first.
import {
  type CatalogReadResult,
  type WritableCatalog,
  toWritableCatalog,
  type WritableBundle,
} from '../write/writable-catalog.ts'
import type { RenderedBundleLookup } from './bundle-source.ts'
import {
  renderSemverTemplate,
  getSemverTemplateImages,
  type RenderTemplateOptions,
} from './semver-template.ts'
import { renderSubstitutesTemplate, getSubstitutesTemplateImages } from './substitutes-template.ts'
import {
  parseTemplateDocument,
  type TemplateDocument,
  templateEntriesType,
  decodeTemplateAndBlobs,
} from './template-document.ts'
import { stringType, createStructType } from '../go/decode/go-type.ts'

const basicTemplateStructType = createStructType('basic.BasicTemplateData', {
  schema: stringType,
  entries: templateEntriesType,
})

const unexpectedFieldsError = {
  ok: false as const,
  error: 'unexpected fields present in basic template bundle',
}

interface TemplateRenderer {
  render(
    template: TemplateDocument,
    source: RenderedBundleLookup,
    options?: RenderTemplateOptions,
  ): CatalogReadResult<WritableCatalog>
  images(template: TemplateDocument): CatalogReadResult<string[]>
}

const templateRendererBySchema: ReadonlyMap<string, TemplateRenderer> = new Map([
  ['olm.template.basic', { render: renderBasicTemplate, images: getBasicTemplateImages }],
  ['olm.semver', { render: renderSemverTemplate, images: getSemverTemplateImages }],
  ['olm.template.substitutes', { render: renderSubstitutesTemplate, images: getSubstitutesTemplateImages }],
])

/** The schema selects the kind of template. Errors are opm's. Never throws. */
export function renderTemplate(
  bytes: Uint8Array,
  source: RenderedBundleLookup,
  options: RenderTemplateOptions = {},
): CatalogReadResult<WritableCatalog> {
  return dispatchToTemplateRenderer(bytes, (kind, template) => kind.render(template, source, options))
}

/** The references that rendering needs, without duplicates. */
export function getTemplateImages(bytes: Uint8Array): CatalogReadResult<string[]> {
  return dispatchToTemplateRenderer(bytes, (kind, template) => kind.images(template))
}

export function isTemplateSchema(schema: string): boolean {
  return templateRendererBySchema.has(schema)
}

function dispatchToTemplateRenderer<Result>(
  bytes: Uint8Array,
  use: (kind: TemplateRenderer, template: TemplateDocument) => CatalogReadResult<Result>,
): CatalogReadResult<Result> {
  const template = parseTemplateDocument(bytes)
  if (!template.ok) return template
  const kind = templateRendererBySchema.get(template.value.schema)
  if (!kind)
    return {
      ok: false,
      error: `auto-detecting template type: unknown template schema: ${template.value.schema}`,
    }
  const result = use(kind, template.value)
  return result.ok ? result : { ok: false, error: `rendering template: ${result.error}` }
}

/** Copies other blobs unchanged and, like opm, does not validate the result. */
function renderBasicTemplate(
  template: TemplateDocument,
  source: RenderedBundleLookup,
): CatalogReadResult<WritableCatalog> {
  const catalog = parseBasicTemplate(template)
  if (!catalog.ok) return catalog
  const bundles: WritableBundle[] = []
  for (const bundle of catalog.value.bundles) {
    if (!isImageOnlyBundle(bundle)) return unexpectedFieldsError
    const rendered = source(bundle.image)
    if (!rendered.ok) return rendered
    bundles.push(...rendered.value.map(({ blob }) => blob))
  }
  return { ok: true, value: { ...catalog.value, bundles } }
}

/** In order, without duplicates. */
function getBasicTemplateImages(template: TemplateDocument): CatalogReadResult<string[]> {
  const catalog = parseBasicTemplate(template)
  if (!catalog.ok) return catalog
  if (!catalog.value.bundles.every(isImageOnlyBundle)) return unexpectedFieldsError
  return { ok: true, value: [...new Set(catalog.value.bundles.map(({ image }) => image))] }
}

function parseBasicTemplate(template: TemplateDocument): CatalogReadResult<WritableCatalog> {
  const read = decodeTemplateAndBlobs(basicTemplateStructType, template)
  return read.ok ? toWritableCatalog(read.value.blobs) : read
}

/** A name is ignored. Any other field would be lost silently. */
function isImageOnlyBundle(bundle: WritableBundle): boolean {
  return (
    bundle.image !== '' &&
    bundle.package === undefined &&
    bundle.properties === undefined &&
    bundle.relatedImages === undefined
  )
}
