package limit

// Kept returns of how many users and policies the limiter keeps something.
func (l *Limiter) Kept() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known)
}
