// The sources under test: those of this folder, or of another that NEXUS_CLIENT_SOURCE names.
const folder = process.env.NEXUS_CLIENT_SOURCE ?? new URL("../src/", import.meta.url).href;

/** @param {string} name */
export const source = (name) => import(new URL(name, folder).href);

// Nothing in these tests takes long, and a timer for each request would outlive them.
AbortSignal.timeout = () => new AbortController().signal;
