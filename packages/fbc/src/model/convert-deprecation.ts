// Links each entry of an olm.deprecations blob to the package, channel, or bundle that it deprecates.
import type { DeprecationBlob, DeprecationEntry } from '../facts/catalog.ts'
import type { FindingRule } from '@catalog-bot/findings/rule'
import { quoteLikeGo } from '../go/text.ts'
import * as deprecationRules from './rules/deprecation-rules.ts'
import { missingPackage, unknownPackage } from './rules/channel-rules.ts'
import type { ModelConversionState } from './conversion-state.ts'
import { toFindingLocation } from './location.ts'
import type { ModelPackage } from './model.ts'

/** `index` is the blob's position among the catalog's deprecation blobs. */
export function convertDeprecations(draft: ModelConversionState, blob: DeprecationBlob, index: number): void {
  const at = toFindingLocation(blob.place)
  const object = 'this olm.deprecations blob'
  if (blob.package === '') {
    const message = () => `package name must be set for deprecation item ${index}`
    draft.problems.add(message, missingPackage, at, { object })
    return
  }
  const parent = draft.packages.get(blob.package)
  if (parent === undefined) {
    const message = () => `cannot apply deprecations to an unknown package ${quoteLikeGo(blob.package)}`
    draft.problems.add(message, unknownPackage, at, { package: blob.package, object })
    return
  }
  if (draft.deprecated.has(blob.package)) {
    const message = () => `expected a maximum of one deprecation per package: ${quoteLikeGo(blob.package)}`
    draft.problems.add(message, deprecationRules.severalDeprecations, at, { package: blob.package })
    return
  }
  draft.deprecated.add(blob.package)
  const references = new Set<string>()
  for (const [entryIndex, entry] of blob.entries.entries()) {
    convertDeprecationEntry(draft, parent, blob, entry, entryIndex, references)
  }
}

function convertDeprecationEntry(
  draft: ModelConversionState,
  parent: ModelPackage,
  blob: DeprecationBlob,
  entry: DeprecationEntry,
  index: number,
  references: Set<string>,
): void {
  const { schema, name } = entry
  const inPackage = (): string => `package ${quoteLikeGo(blob.package)}`
  const reference = (): string =>
    `declcfg.PackageScopedReference{Schema:${quoteLikeGo(schema)}, Name:${quoteLikeGo(name)}}`
  const report = <Data extends object>(rule: FindingRule<Data>, data: Data, message: () => string): void => {
    draft.problems.add(message, rule, toFindingLocation(blob.place, entry.mark), data)
  }
  const data = { package: blob.package, schema, name }
  if (schema === '') {
    const message = () => `schema must be set for deprecation entry [${index}] for ${inPackage()}`
    return report(deprecationRules.deprecationWithoutSchema, { package: blob.package, index }, message)
  }
  const key = JSON.stringify([schema, name])
  if (references.has(key)) {
    const message = () => `duplicate deprecation entry ${reference()} for ${inPackage()}`
    return report(deprecationRules.duplicateDeprecation, data, message)
  }
  references.add(key)
  const reportMissing = (target: string): void => {
    const message = () =>
      `cannot deprecate ${target} ${quoteLikeGo(name)} for ${inPackage()}: ${target} not found`
    report(deprecationRules.unknownDeprecatedObject, data, message)
  }
  switch (schema) {
    case 'olm.bundle': {
      const bundle = draft.bundles.get(blob.package)?.get(name)
      if (bundle === undefined) return reportMissing('bundle')
      bundle.deprecation = { place: blob.place, entry }
      return
    }
    case 'olm.channel': {
      const channel = parent.channels.get(name)
      if (channel === undefined) return reportMissing('channel')
      channel.deprecation = { place: blob.place, entry }
      return
    }
    case 'olm.package': {
      if (name === '') {
        parent.deprecation = { place: blob.place, entry }
        return
      }
      const message = () =>
        `package name must be empty for deprecated ${inPackage()} (specified ${quoteLikeGo(name)})`
      return report(deprecationRules.namedPackageDeprecation, { package: blob.package, name }, message)
    }
    default: {
      const message = () =>
        `cannot deprecate object ${reference()} referenced by entry ${index} for ${inPackage()}: object schema unknown`
      return report(deprecationRules.unknownDeprecationSchema, { package: blob.package, schema }, message)
    }
  }
}
