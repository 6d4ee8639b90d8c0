// Renders templates as `opm alpha render-template` does. The caller fetches the bundles of `templateImages` first.
import type { ReadResult, WritableCatalog } from '../write/writable.ts'
import { basicImages, renderBasic } from './basic.ts'
import type { BundleSource } from './bundle-source.ts'
import { renderSemver, semverImages, type RenderOptions } from './semver.ts'
import { renderSubstitutes, substitutesImages } from './substitutes.ts'
import { readTemplateDocument, type TemplateDocument } from './template-file.ts'

interface TemplateKind {
  render(
    template: TemplateDocument,
    source: BundleSource,
    options?: RenderOptions,
  ): ReadResult<WritableCatalog>
  images(template: TemplateDocument): ReadResult<string[]>
}

const kinds: ReadonlyMap<string, TemplateKind> = new Map([
  ['olm.template.basic', { render: renderBasic, images: basicImages }],
  ['olm.semver', { render: renderSemver, images: semverImages }],
  ['olm.template.substitutes', { render: renderSubstitutes, images: substitutesImages }],
])

/** The schema selects the kind of template. Errors are opm's. Never throws. */
export function renderTemplate(
  bytes: Uint8Array,
  source: BundleSource,
  options: RenderOptions = {},
): ReadResult<WritableCatalog> {
  return withKind(bytes, (kind, template) => kind.render(template, source, options))
}

/** The references that rendering needs, without duplicates. */
export function templateImages(bytes: Uint8Array): ReadResult<string[]> {
  return withKind(bytes, (kind, template) => kind.images(template))
}

export function isTemplateSchema(schema: string): boolean {
  return kinds.has(schema)
}

function withKind<Result>(
  bytes: Uint8Array,
  use: (kind: TemplateKind, template: TemplateDocument) => ReadResult<Result>,
): ReadResult<Result> {
  const template = readTemplateDocument(bytes)
  if (!template.ok) return template
  const kind = kinds.get(template.value.schema)
  if (!kind)
    return {
      ok: false,
      error: `auto-detecting template type: unknown template schema: ${template.value.schema}`,
    }
  const result = use(kind, template.value)
  return result.ok ? result : { ok: false, error: `rendering template: ${result.error}` }
}
