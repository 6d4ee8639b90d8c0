import { compareVersions } from '@catalog-bot/fbc/versions/version'
import type { BundleView, ChannelView, PackageView } from './catalog-view.ts'

/**
 * The highest bundle newer than the channel's head. Undefined if the head is the highest, is not unique, or has no
 * known version.
 */
export function findBundleNewerThanHead(
  its: PackageView,
  { blob, head }: ChannelView,
): BundleView | undefined {
  const own = head && its.bundle(head.name)
  if (own?.version === undefined) return undefined
  let highest = own
  for (const { name } of blob.entries) {
    const other = its.bundle(name)
    if (other?.version && highest.version && compareVersions(other.version, highest.version) > 0)
      highest = other
  }
  return highest === own ? undefined : highest
}
