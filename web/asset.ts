import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A file that pages load. Its name has the hash of its content, so browsers may keep it for ever. */
type Asset = { path: string; body: string; contentType: string };

const DIRECTORY = join(import.meta.dirname, "assets");

function readAsset(name: string, contentType: string): Asset {
  const body = readFileSync(join(DIRECTORY, name), "utf8");
  const [stem, extension] = name.split(".");
  const fingerprint = hash("sha256", body, "hex").slice(0, 12);
  return { path: `/explorer/assets/${stem}.${fingerprint}.${extension}`, body, contentType };
}

/** All assets: one style sheet, one script, one icon. */
export const STYLE = readAsset("explorer.css", "text/css; charset=utf-8");
export const SCRIPT = readAsset("explorer.js", "text/javascript; charset=utf-8");
export const ICON = readAsset("icon.svg", "image/svg+xml");
export const ASSETS = [STYLE, SCRIPT, ICON];

/** Headers of all assets. */
export const ASSET_HEADERS = {
  "cache-control": "public, max-age=31536000, immutable",
  "x-content-type-options": "nosniff",
};
