// Renders templates as `opm alpha render-template` does. The caller fetches the bundles of `getTemplateImages` first.
import type { CatalogReadResult, WritableCatalog } from '../write/writable-catalog.ts'
import { getBasicTemplateImages, renderBasicTemplate } from './basic-template.ts'
import type { RenderedBundleLookup } from './bundle-source.ts'
import {
  renderSemverTemplate,
  getSemverTemplateImages,
  type RenderTemplateOptions,
} from './semver-template.ts'
import { renderSubstitutesTemplate, getSubstitutesTemplateImages } from './substitutes-template.ts'
import { parseTemplateDocument, type TemplateDocument } from './template-document.ts'

interface TemplateRenderer {
  render(
    template: TemplateDocument,
    source: RenderedBundleLookup,
    options?: RenderTemplateOptions,
  ): CatalogReadResult<WritableCatalog>
  images(template: TemplateDocument): CatalogReadResult<string[]>
}

const rendererBySchema: ReadonlyMap<string, TemplateRenderer> = new Map([
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
  return withTemplateRenderer(bytes, (kind, template) => kind.render(template, source, options))
}

/** The references that rendering needs, without duplicates. */
export function getTemplateImages(bytes: Uint8Array): CatalogReadResult<string[]> {
  return withTemplateRenderer(bytes, (kind, template) => kind.images(template))
}

export function isTemplateSchema(schema: string): boolean {
  return rendererBySchema.has(schema)
}

function withTemplateRenderer<Result>(
  bytes: Uint8Array,
  use: (kind: TemplateRenderer, template: TemplateDocument) => CatalogReadResult<Result>,
): CatalogReadResult<Result> {
  const template = parseTemplateDocument(bytes)
  if (!template.ok) return template
  const kind = rendererBySchema.get(template.value.schema)
  if (!kind)
    return {
      ok: false,
      error: `auto-detecting template type: unknown template schema: ${template.value.schema}`,
    }
  const result = use(kind, template.value)
  return result.ok ? result : { ok: false, error: `rendering template: ${result.error}` }
}
