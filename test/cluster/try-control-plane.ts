// `npm run test:cluster`: trials on real control planes, with the controllers of OLM v0, OLM v1 and RukPak: install, upgrade, what
// fails, what cannot be resolved, and a clean cluster after each. Needs etcd, docker-registry, skopeo and what
// build-control-plane builds (`CONTROL_PLANE` names its folder); words after it choose stories. Exit 1 where something is not as it should be.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openClaims } from './real/claims.ts'
import { olmV0Stories } from './real/olm-v0.ts'
import { olmV1Stories } from './real/olm-v1.ts'
import { rukPakStories } from './real/rukpak.ts'
import { rightsStories } from './real/rights.ts'
import { onControlPlane, openWorld, type Scene } from './real/scene.ts'

const built = process.env['CONTROL_PLANE']
if (built === undefined || !existsSync(join(built, 'bin', 'kube-apiserver'))) {
  console.log(
    'CONTROL_PLANE names no folder that test/cluster/build-control-plane has filled: nothing was tried',
  )
  process.exit(2)
}

// A network and processes of its own, where the system lets us: nothing that is started here is reached from outside, reaches
// anything, or goes on when this ends.
const alone = 'CATALOG_BOT_ALONE'
if (process.env[alone] === undefined) {
  const apart = ['--map-root-user', '--net', '--pid', '--fork', '--kill-child', '--mount-proc', '--']
  const inside = [...apart, 'sh', '-c', 'ip link set lo up && "$@"', 'sh']
  if (spawnSync('unshare', [...inside, 'true'], { stdio: 'ignore' }).status === 0) {
    const command = [process.execPath, '--no-warnings', import.meta.filename, ...process.argv.slice(2)]
    const env = { ...process.env, [alone]: 'yes' }
    const child = spawn('unshare', [...inside, ...command], { stdio: 'inherit', env })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGKILL'))
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
    process.exit(code ?? 1)
  }
}

/** Each on a control plane of its own: RukPak's versions share their CRDs, and what one left must not help another. */
const stories: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  rights: rightsStories,
  'olm-v0': olmV0Stories,
  'olm-v1': olmV1Stories,
  'rukpak-v1alpha1': (scene) => rukPakStories(scene, 'rukpak-v1alpha1'),
  rukpak: (scene) => rukPakStories(scene, 'rukpak'),
}
/** What a story needs beside the control plane. */
const parts: Readonly<Record<string, string>> = {
  'olm-v0': 'catalog',
  'olm-v1': 'catalogd',
  'rukpak-v1alpha1': 'rukpak-v1alpha1/webhooks',
  rukpak: 'rukpak/helm',
}
const isBuilt = (name: string) => existsSync(join(built, 'bin', parts[name] ?? 'kube-apiserver'))
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(stories).filter(isBuilt)

const folder = mkdtempSync(join(tmpdir(), 'control-plane-'))
const say = (line: string) => console.log(line)
const claims = openClaims(say)
const world = await openWorld(join(folder, 'world'))
const end = async () => {
  await world.registry.close()
  if (process.env['KEEP'] === undefined) rmSync(folder, { recursive: true, force: true })
  else say(`kept: ${folder}`)
}
try {
  for (const name of wanted) {
    const story = stories[name]
    if (story === undefined) throw new Error(`there is no story ${name}: ${Object.keys(stories).join(', ')}`)
    await onControlPlane({ built, folder: join(folder, name), say }, world, claims, story)
  }
} finally {
  await end()
}
say(`\n${claims.table()}\n`)
const leftOut = Object.keys(stories).filter((name) => !isBuilt(name))
if (leftOut.length > 0) say(`left out, for build-control-plane has not built it: ${leftOut.join(', ')}`)
say(claims.wrong() === 0 ? 'all as it should be' : `${claims.wrong()} wrong`)
process.exit(claims.wrong() === 0 ? 0 : 1)
