// Offers the rendered catalog as a patch. The patch shows only bundles of the base's catalog, because readers might not
// have access to other images that catalog-bot can pull.
import { decodeUtf8Strictly } from '@catalog-bot/fbc/go/utf8'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { renderTemplate } from '@catalog-bot/fbc/template/render-template'
import { parseTemplateDocument } from '@catalog-bot/fbc/template/template-document'
import { parseWritableCatalog, type WritableBundle } from '@catalog-bot/fbc/write/writable-catalog'
import { formatCatalogJson } from '@catalog-bot/fbc/write/format-json'
import { formatCatalogYaml } from '@catalog-bot/fbc/write/format-yaml'
import type { LoadedTemplateCatalogPair } from '../../../pull-request/layout/template-pairs.ts'
import type { SuggestedPatch } from '../../check.ts'

/** Unified diffs for `git apply`. Stops early if the files differ in many lines. */
interface UnifiedDiffLimits {
  /** Removed plus added lines. */
  readonly edits: number
  readonly characters: number
}

const unifiedDiffContextLines = 3

/** Three patches fit into one comment. */
const suggestedPatchLimits = { edits: 200, characters: 12_000 }

// Characters that are invisible or do not survive copying.
const invisibleCharacterPattern = /[^\n\P{C}]|\p{Default_Ignorable_Code_Point}|\p{Zl}|\p{Zp}/u

/** Undefined if there is no small patch. Supports only basic templates, because the others read bundle images. */
export function suggestTemplatePatch({
  offer,
  file,
  source,
  template,
}: LoadedTemplateCatalogPair): SuggestedPatch | undefined {
  if (offer !== 'patch' || !file || !(source instanceof Uint8Array)) return undefined
  if (!/^[\w./+-]+$/.test(file.path) || file.path.startsWith('-')) return undefined
  const document = parseTemplateDocument(source)
  if (!document.ok || document.value.schema !== 'olm.template.basic') return undefined
  const before = parseWritableCatalog([file.base])
  const present = decodeUtf8Strictly(file.result)
  if (!before.ok || present === undefined) return undefined
  const bundles = new Map<string, WritableBundle>(before.value.bundles.map((blob) => [blob.image, blob]))
  const rendered = renderTemplate(source, (image) => {
    const blob = bundles.get(image)
    return blob
      ? { ok: true, value: [{ blob }] }
      : { ok: false, error: 'the base version of the catalog does not contain the bundle' }
  })
  if (!rendered.ok) return undefined
  const text = (file.path.endsWith('.json') ? formatCatalogJson : formatCatalogYaml)(rendered.value)
  const patch = createUnifiedDiff(file.path, present, text, suggestedPatchLimits)
  return patch === undefined || invisibleCharacterPattern.test(patch)
    ? undefined
    : { path: file.path, template, patch }
}

/** Undefined if the files are equal, lack a final line break, or exceed the limits. */
export function createUnifiedDiff(path: string, before: string, after: string, limits: UnifiedDiffLimits) {
  if (before === after || !before.endsWith('\n') || !after.endsWith('\n')) return undefined
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, {
    context: unifiedDiffContextLines,
    maxEditLength: limits.edits,
    headerOptions: FILE_HEADERS_ONLY,
  })
  return patch !== undefined && patch.length <= limits.characters ? patch : undefined
}
