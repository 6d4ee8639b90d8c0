// opm's checks of one channel entry with its bundle, and of deprecations. Like opm, checks a bundle once per channel.
import { createErrorLeaf } from './error-tree.ts'
import type { ErrorTree } from './error-tree.ts'
import type { FindingList } from '@catalog-bot/findings/finding-list'
import { quoteLikeGo } from '../go/text.ts'
import * as bundleRules from './rules/bundle-rules.ts'
import * as channelRules from './rules/channel-rules.ts'
import { deprecationWithoutMessage } from './rules/package-rules.ts'
import type { OpmRuleSet } from './rule-set.ts'
import { parseVersionRange } from '../versions/version-range.ts'
import { formatVersion } from '../versions/version.ts'
import { toFindingLocation } from './location.ts'
import type { ModelBundle, ModelChannel, ModelDeprecation, ModelEntry } from './model.ts'

export function collectEntryErrors(
  packageName: string,
  channel: ModelChannel,
  { entry, bundle }: ModelEntry,
  ruleSet: OpmRuleSet,
  findings: FindingList,
): ErrorTree[] {
  const causes: ErrorTree[] = []
  const ofItself = bundle?.isReported === true ? undefined : findings
  if (bundle) bundle.isReported = true
  const inChannel = { package: packageName, channel: channel.name }
  const ofBundle = { package: packageName, bundle: entry.name }
  const atEntry = channel.blob && toFindingLocation(channel.blob.place, entry.mark)
  const atBundle = bundle && toFindingLocation(bundle.blob.place)
  if (entry.name === '') {
    causes.push(createErrorLeaf('name must be set'))
    findings.add(channelRules.namelessEntry, atEntry, inChannel)
  }
  const version = bundle?.version && formatVersion(bundle.version)
  const released = bundle !== undefined && version !== undefined && bundle.release !== ''
  if (released) {
    const wanted = `${packageName}-v${version}-${bundle.release}`
    if (entry.name !== wanted) {
      causes.push(
        createErrorLeaf(
          `name ${quoteLikeGo(entry.name)} does not match normalized name ${quoteLikeGo(wanted)}`,
        ),
      )
      ofItself?.add(bundleRules.nameNotNormalized, atBundle, { ...ofBundle, wanted })
    }
  }
  for (const [index, skip] of entry.skips.entries()) {
    if (skip !== '') continue
    causes.push(createErrorLeaf(`skip[${index}] is empty`))
    findings.add(channelRules.emptySkip, atEntry, { ...inChannel, entry: entry.name, index })
  }
  if (ruleSet.skipRangeSyntax && entry.skipRange !== '') {
    const range = parseVersionRange(entry.skipRange)
    if (!range.ok) {
      const { skipRange } = entry
      causes.push(createErrorLeaf(`invalid skipRange ${quoteLikeGo(skipRange)}: ${range.error}`))
      const data = { ...inChannel, entry: entry.name, skipRange, error: range.error }
      findings.add(channelRules.invalidSkipRange, atEntry, data)
    }
  }
  // The conversion reports entries without a bundle; this only reproduces opm's tree.
  if (bundle === undefined)
    causes.push(createErrorLeaf('must be exactly one property with type "olm.package"'))
  if (bundle === undefined || !hasImage(bundle)) causes.push(createErrorLeaf('bundle image must be set'))
  if (bundle !== undefined && !hasImage(bundle)) {
    ofItself?.add(bundleRules.bundleWithoutImage, atBundle, ofBundle)
  }
  const object = (): string => `bundle ${quoteLikeGo(entry.name)}`
  causes.push(...collectDeprecationErrors(packageName, object, bundle?.deprecation, ofItself))
  if (released && (bundle.version?.build.length ?? 0) > 0) {
    causes.push(createErrorLeaf('cannot use build metadata in version with a release version'))
    const data = { ...ofBundle, version, release: bundle.release }
    ofItself?.add(bundleRules.releaseWithBuildMetadata, atBundle, data)
  }
  return causes
}

/** For a package, a channel or a bundle. */
export function collectDeprecationErrors(
  packageName: string,
  object: () => string,
  deprecation: ModelDeprecation | undefined,
  findings: FindingList | undefined,
): ErrorTree[] {
  if (deprecation === undefined || deprecation.entry.message !== '') return []
  const at = toFindingLocation(deprecation.place, deprecation.entry.mark)
  findings?.add(deprecationWithoutMessage, at, { package: packageName, object: object() })
  return [createErrorLeaf('invalid deprecation: message must be set')]
}

function hasImage({ blob }: ModelBundle): boolean {
  return blob.image !== '' || blob.properties.some((property) => property.type === 'olm.bundle.object')
}
