import type { AnyFindingRule } from '@catalog-bot/findings/rule'
import * as bundleRules from './bundle-rules.ts'
import * as channelRules from './channel-rules.ts'
import * as deprecationRules from './deprecation-rules.ts'
import * as packageRules from './package-rules.ts'

export const catalogModelRules: readonly AnyFindingRule[] = [
  ...Object.values(packageRules),
  ...Object.values(channelRules),
  ...Object.values(bundleRules),
  ...Object.values(deprecationRules),
]
