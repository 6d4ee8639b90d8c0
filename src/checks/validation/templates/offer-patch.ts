// Offers the rendered catalog as a patch. It shows only bundles of the base's catalog, because a registry may have
// shown others to the bot's credentials alone.
import { linePatch } from './line-patch.ts'
import { renderTemplate } from '../../../catalog/template/render-template.ts'
import { readTemplateDocument } from '../../../catalog/template/template-file.ts'
import { readWritable, type WritableBundle } from '../../../catalog/write/writable.ts'
import { writeJson } from '../../../catalog/write/write-json.ts'
import { writeYaml } from '../../../catalog/write/write-yaml.ts'
import type { TemplateState } from '../../../change/layout/template-pairs.ts'
import type { Offer } from '../../check.ts'

/** Three patches fit into one comment. */
const limits = { edits: 200, characters: 12_000 }

// Characters that are invisible or do not survive copying.
const unshowable = /[^\n\P{C}]|\p{Default_Ignorable_Code_Point}|\p{Zl}|\p{Zp}/u

/** Undefined if there is no small patch. Basic templates only: the others read bundle images. */
export function offerPatch({ offer, file, source, template }: TemplateState): Offer | undefined {
  if (offer !== 'patch' || !file || !(source instanceof Uint8Array)) return undefined
  if (!/^[\w./+-]+$/.test(file.path) || file.path.startsWith('-')) return undefined
  const document = readTemplateDocument(source)
  if (!document.ok || document.value.schema !== 'olm.template.basic') return undefined
  const before = readWritable([file.base])
  const present = decode(file.result)
  if (!before.ok || present === undefined) return undefined
  const bundles = new Map<string, WritableBundle>(before.value.bundles.map((blob) => [blob.image, blob]))
  const rendered = renderTemplate(source, (image) => {
    const blob = bundles.get(image)
    return blob ? { ok: true, value: [{ blob }] } : { ok: false, error: 'the base does not have it' }
  })
  if (!rendered.ok) return undefined
  const text = (file.path.endsWith('.json') ? writeJson : writeYaml)(rendered.value)
  const patch = linePatch(file.path, present, text, limits)
  return patch === undefined || unshowable.test(patch) ? undefined : { path: file.path, template, patch }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
