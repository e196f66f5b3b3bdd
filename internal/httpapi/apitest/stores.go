package apitest

import (
	"context"

	"github.com/tombstone-project/tombstone/events"
)

// SetStores is what Stores tells from now on.
func (s *Service) SetStores(v events.StoresView) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stores = v
}

// Stores tells what it was told.
func (s *Service) Stores(ctx context.Context) (events.StoresView, error) {
	_, leave, err := s.enterOperator(ctx, "Stores")
	if err != nil {
		return events.StoresView{}, err
	}
	defer leave()
	return s.stores, nil
}
