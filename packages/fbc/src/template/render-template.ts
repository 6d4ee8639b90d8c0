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
  decodeTemplateAndBlobs,
  failTemplate,
  parseTemplateDocument,
  requireTemplateValue,
  TemplateError,
  type TemplateDocument,
  templateEntriesType,
} from './template-document.ts'
import { stringType, createStructType } from '../go/decode/go-type.ts'

const basicTemplateStructType = createStructType('basic.BasicTemplateData', {
  schema: stringType,
  entries: templateEntriesType,
})

/** The functions throw TemplateErrors. */
interface TemplateRenderer {
  render(
    template: TemplateDocument,
    source: RenderedBundleLookup,
    options?: RenderTemplateOptions,
  ): WritableCatalog
  images(template: TemplateDocument): string[]
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
  use: (kind: TemplateRenderer, template: TemplateDocument) => Result,
): CatalogReadResult<Result> {
  const template = parseTemplateDocument(bytes)
  if (!template.ok) return template
  const kind = templateRendererBySchema.get(template.value.schema)
  if (!kind)
    return {
      ok: false,
      error: `auto-detecting template type: unknown template schema: ${template.value.schema}`,
    }
  try {
    return { ok: true, value: use(kind, template.value) }
  } catch (error) {
    if (error instanceof TemplateError) return { ok: false, error: `rendering template: ${error.message}` }
    throw error
  }
}

/** Copies other blobs unchanged and, like opm, does not validate the result. */
function renderBasicTemplate(template: TemplateDocument, source: RenderedBundleLookup): WritableCatalog {
  const catalog = parseBasicTemplate(template)
  const bundles: WritableBundle[] = []
  for (const bundle of catalog.bundles) {
    rejectUnexpectedBundleFields(bundle)
    bundles.push(...requireTemplateValue(source(bundle.image)).map(({ blob }) => blob))
  }
  return { ...catalog, bundles }
}

/** In order, without duplicates. */
function getBasicTemplateImages(template: TemplateDocument): string[] {
  const { bundles } = parseBasicTemplate(template)
  bundles.forEach(rejectUnexpectedBundleFields)
  return [...new Set(bundles.map(({ image }) => image))]
}

function parseBasicTemplate(template: TemplateDocument): WritableCatalog {
  const { blobs } = requireTemplateValue(decodeTemplateAndBlobs(basicTemplateStructType, template))
  return requireTemplateValue(toWritableCatalog(blobs))
}

/** A name is ignored. Any other field would be lost silently. */
function rejectUnexpectedBundleFields(bundle: WritableBundle): void {
  if (bundle.image === '' || bundle.package !== undefined || bundle.properties || bundle.relatedImages)
    failTemplate('unexpected fields present in basic template bundle')
}
